# App Engine checks the caller, by `login: admin` in app.yaml; the job sends no token.
locals {
  auth             = "app-engine"
  auth_accounts    = {}
  auth_environment = {}
}
