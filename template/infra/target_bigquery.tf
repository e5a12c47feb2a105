# Jobs of BigQuery, in a project and a location. The roles on what they read and write are its owner's to give.
locals {
  target          = var.target
  target_form     = "projects/PROJECT/locations/LOCATION"
  target_pattern  = "^projects/[^/\\s]+/locations/[^/\\s]+$"
  target_services = ["bigquery.googleapis.com"]
  target_accounts = {}
}

resource "google_project_iam_member" "target" {
  project = split("/", var.target)[1]
  role    = "roles/bigquery.jobUser"
  member  = google_service_account.accounts["runner"].member
}
