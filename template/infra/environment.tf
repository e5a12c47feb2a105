# What deployment and code have to agree on is told to the service, not left to the code's defaults.
locals {
  environment = merge(var.environment, {
    SERVICE                  = var.service
    JOB_SCOPE                = local.job_scope
    ATTEMPT_DEADLINE_SECONDS = var.attempt_deadline
    LEASE_SECONDS            = var.lease
    RETENTION_SECONDS        = var.retention * 3600
    AUTH                     = local.auth
  }, local.auth_environment, local.kind_environment, local.store_environment)
}
