# What the job calls. Its project and region are part of every run's key; they go in the query.
locals {
  job_scope   = "query"
  job_uri     = "${local.url}/?project=${var.project}&location=${var.region}"
  job_headers = {}
}
