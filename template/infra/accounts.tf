# One account for each who acts, with no more than it needs. The service's role on its records is
# beside the records, those on what it starts beside that, and the right to call it beside the check of
# the caller.
locals {
  accounts = merge(local.kind_accounts, {
    runner  = "runs the service"
    builder = "builds the image"
  })
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
