# A handler, which a Cloud Scheduler job calls. There is nothing in the request but its headers.
locals {
  kind_services    = local.job_services
  kind_accounts    = local.job_accounts
  kind_environment = local.job_environment
  job_content      = {}
  job_body         = null
}
