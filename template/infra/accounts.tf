# One account for each who acts, with no more than it needs. The service's role on its records is
# beside the records, and the job's role on the service beside the check of the caller.
locals {
  accounts = {
    runner  = "runs the service"
    caller  = "is who the Cloud Scheduler job calls as"
    builder = "builds the image"
  }
}

resource "google_service_account" "accounts" {
  for_each = local.accounts

  account_id   = local.names[each.key]
  display_name = "${var.service}: ${each.value}"

  depends_on = [google_project_service.required]
}

# Reads the source, stores the image and writes the build's log.
resource "google_project_iam_member" "builder" {
  project = var.project
  role    = "roles/run.builder"
  member  = google_service_account.accounts["builder"].member
}
