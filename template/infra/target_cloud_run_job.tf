# A Cloud Run job, which is there already.
locals {
  target          = var.target
  target_form     = "projects/PROJECT/locations/LOCATION/jobs/JOB"
  target_pattern  = "^projects/[^/\\s]+/locations/[^/\\s]+/jobs/[^/\\s]+$"
  target_services = []
  target_accounts = {}
}

# To start an execution with the token as an override, and to find it.
resource "google_cloud_run_v2_job_iam_member" "target" {
  for_each = toset(["roles/run.jobsExecutorWithOverrides", "roles/run.viewer"])

  project  = split("/", var.target)[1]
  location = split("/", var.target)[3]
  name     = split("/", var.target)[5]
  role     = each.value
  member   = google_service_account.accounts["runner"].member
}
