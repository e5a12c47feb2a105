# The service's surroundings on App Engine. The service itself is a version that `gcloud app deploy`
# makes of app.yaml and the source; the app, of which a project has one for good, is nobody's here.
locals {
  deployed          = var.deployed ? 1 : 0
  platform_services = ["appengine.googleapis.com"]
  platform_accounts = {}
  url               = "https://${var.service == "default" ? "" : "${var.service}-dot-"}${var.app.defaultHostname}"
}

# App Engine builds as the account that the service runs as.
resource "google_project_iam_member" "build" {
  for_each = toset(["roles/artifactregistry.createOnPushWriter", "roles/logging.logWriter"])

  project = var.project
  role    = each.value
  member  = google_service_account.accounts["runner"].member
}

resource "google_storage_bucket_iam_member" "source" {
  bucket = var.app.codeBucket
  role   = "roles/storage.objectViewer"
  member = google_service_account.accounts["runner"].member
}

output "app_yaml" {
  description = "What `make deploy` changes in app.yaml: one NAME=VALUE in each line."
  value = join("\n", [
    for name, value in merge(local.environment, {
      service         = var.service
      service_account = google_service_account.accounts["runner"].email
    }) : "${name}=${value}"
  ])
}

output "deployed" {
  description = "Whether the service is there."
  value       = var.deployed
}
