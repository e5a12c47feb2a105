# The Cloud Scheduler job.
locals {
  job_services = ["cloudscheduler.googleapis.com"]
  job_environment = {
    JOB_ID    = var.service
    SCHEDULE  = var.schedule
    TIME_ZONE = var.time_zone
  }
}

resource "google_cloud_scheduler_job" "job" {
  count = local.deployed

  name             = var.service
  description      = var.description
  region           = var.region
  schedule         = var.schedule
  time_zone        = var.time_zone
  attempt_deadline = "${var.attempt_deadline}s"

  retry_config {
    retry_count          = var.retries.retry_count
    min_backoff_duration = "${var.retries.min_backoff}s"
    max_backoff_duration = "${var.retries.max_backoff}s"
    max_doublings        = var.retries.max_doublings
    max_retry_duration   = "${var.retries.max_retry_duration}s"
  }

  http_target {
    uri         = "${local.url}${local.job_path}"
    http_method = "POST"
    headers     = merge(local.job_headers, local.job_content)
    body        = local.job_body

    oidc_token {
      service_account_email = google_service_account.accounts["caller"].email
      audience              = local.url
    }
  }

  depends_on = [google_cloud_run_v2_service.service]
}
