# One account for each who acts, with no more than it needs. The service's role on its records is
# beside the records, those on what it starts beside that, and the right to call it beside the check of
# the caller.
locals {
  accounts = merge({ runner = "runs the service" }, local.platform_accounts, local.kind_accounts)
}

resource "google_service_account" "accounts" {
  for_each = local.accounts

  account_id   = local.names[each.key]
  display_name = "${var.service}: ${each.value}"

  depends_on = [google_project_service.required]
}
