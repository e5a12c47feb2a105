# An HTTP endpoint, which is there already. Its owner lets the service's account in: on Cloud Run by
# roles/run.invoker.
locals {
  target          = var.target
  target_form     = "https://HOST/PATH"
  target_pattern  = "^https://[^/\\s]+(/\\S*)?$"
  target_services = []
  target_accounts = {}
}
