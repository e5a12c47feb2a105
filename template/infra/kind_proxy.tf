# A proxy, which a Cloud Scheduler job calls with the body in job_body.json, and which starts its target.
locals {
  kind_services    = concat(local.job_services, local.target_services)
  kind_accounts    = merge(local.job_accounts, local.target_accounts)
  kind_environment = merge(local.job_environment, { TARGET = local.target })
  job_content      = { Content-Type = "application/json" }
  job_body         = filebase64("${path.module}/../job_body.json")
}
