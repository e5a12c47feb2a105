# The job calls a URL, and sends a token of its own account that is meant for the service's root URL.
locals {
  job_accounts = { caller = "is who the Cloud Scheduler job calls as" }
  callers      = { caller = google_service_account.accounts["caller"].email }
}

output "caller" {
  description = "E-mail address of the account as which the Cloud Scheduler job calls."
  value       = google_service_account.accounts["caller"].email
}
