# Cloud Run checks the caller, and lets nobody through but the job's account.
locals {
  auth = "iam"
}

resource "google_cloud_run_v2_service_iam_member" "caller" {
  count = local.deployed

  name     = google_cloud_run_v2_service.service[0].name
  location = var.region
  role     = "roles/run.invoker"
  member   = google_service_account.accounts["caller"].member
}
