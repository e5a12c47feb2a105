# What is started acts as an account of its own, which to hand to it is a right too.
resource "google_service_account_iam_member" "target" {
  count = var.target_account == "" ? 0 : 1

  service_account_id = "projects/-/serviceAccounts/${var.target_account}"
  role               = "roles/iam.serviceAccountUser"
  member             = google_service_account.accounts["runner"].member
}
