# A Cloud Build trigger, which is there already. Its builds act as `target_account`.
locals {
  target          = var.target
  target_form     = "projects/PROJECT/locations/LOCATION/triggers/TRIGGER"
  target_pattern  = "^projects/[^/\\s]+/locations/[^/\\s]+/triggers/[^/\\s]+$"
  target_services = []
  target_accounts = {}
}

# To start builds and to find them.
resource "google_project_iam_member" "target" {
  project = split("/", var.target)[1]
  role    = "roles/cloudbuild.builds.editor"
  member  = google_service_account.accounts["runner"].member
}
