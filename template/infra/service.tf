# The service. It is there from the first `make deploy` on, as there is no image before.
locals {
  deployed = var.image == "" ? 0 : 1
  # Known before the service is there, so that the service can be told its own audience.
  url = "https://${var.service}-${data.google_project.this.number}.${var.region}.run.app"
  # What deployment and code have to agree on is told, not left to the code's defaults.
  environment = {
    GOOGLE_CLOUD_PROJECT     = var.project
    SERVICE                  = var.service
    JOB_SCOPE                = local.job_scope
    ATTEMPT_DEADLINE_SECONDS = var.attempt_deadline
    LEASE_SECONDS            = var.lease
    RETENTION_SECONDS        = var.retention * 3600
    AUTH                     = local.auth
    AUTH_AUDIENCE            = local.url
    AUTH_SERVICE_ACCOUNT     = join(",", values(local.callers))
    RUN_STORE_URL            = local.store_url
  }
}

resource "google_cloud_run_v2_service" "service" {
  count = local.deployed

  name                 = var.service
  location             = var.region
  ingress              = "INGRESS_TRAFFIC_ALL"
  invoker_iam_disabled = !local.platform_checks_caller
  deletion_protection  = var.deletion_protection

  template {
    service_account                  = google_service_account.accounts["runner"].email
    timeout                          = "${var.attempt_deadline}s"
    max_instance_request_concurrency = var.concurrency

    scaling {
      max_instance_count = var.max_instances
    }

    containers {
      image = var.image

      # With CPU only during requests, nothing would renew the lease of work that goes on after its
      # request has timed out.
      resources {
        limits   = { cpu = var.cpu, memory = var.memory }
        cpu_idle = false
      }

      dynamic "env" {
        for_each = merge(local.environment, local.kind_environment)
        content {
          name  = env.key
          value = env.value
        }
      }
    }
  }

  depends_on = [google_project_service.required]
}
