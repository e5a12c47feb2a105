# What the job calls. Its project and region are part of every run's key; they go in the path.
locals {
  job_scope   = "path"
  job_uri     = "${local.url}/projects/${var.project}/locations/${var.region}"
  job_headers = {}
}
