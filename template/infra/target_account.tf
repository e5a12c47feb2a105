# What is started acts as an account of its own, which to hand to it is a right too.
variable "target_account" {
  description = "E-mail address of the account as which what is started acts; empty for none."
  type        = string

  validation {
    condition     = var.target_account == "" || can(regex("^[^@\\s]+@[^@\\s]+$", var.target_account))
    error_message = "Write the e-mail address of a service account, or nothing."
  }
}

resource "google_service_account_iam_member" "target" {
  count = var.target_account == "" ? 0 : 1

  service_account_id = "projects/-/serviceAccounts/${var.target_account}"
  role               = "roles/iam.serviceAccountUser"
  member             = google_service_account.accounts["runner"].member
}
