# App Engine checks the caller, by `login: admin` in app.yaml.
locals {
  auth             = "app-engine"
  auth_environment = {}
}
