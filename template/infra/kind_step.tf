# A step, which the accounts in `callers` call, and no Cloud Scheduler job.
locals {
  kind_services    = []
  kind_accounts    = {}
  kind_environment = {}
  callers          = { for address in var.callers : address => address }
}
