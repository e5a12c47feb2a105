# Who calls sends a token that is meant for the service's root URL.
locals {
  auth_environment = {
    AUTH_AUDIENCE        = local.url
    AUTH_SERVICE_ACCOUNT = join(",", values(local.callers))
  }
}
