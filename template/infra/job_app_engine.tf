# The job calls a service of App Engine, which knows it without a token.
locals {
  job_accounts = {}
}
