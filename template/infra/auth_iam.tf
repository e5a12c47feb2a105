# Cloud Run checks the caller, and lets nobody else through.
locals {
  auth = "iam"
}

resource "google_cloud_run_v2_service_iam_member" "callers" {
  for_each = local.deployed == 1 ? local.callers : {}

  name     = google_cloud_run_v2_service.service[0].name
  location = var.region
  role     = "roles/run.invoker"
  member   = "serviceAccount:${each.value}"
}
