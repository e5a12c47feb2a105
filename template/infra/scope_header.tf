# What the job calls. Its project and region are part of every run's key; they go in headers.
locals {
  job_scope   = "header"
  job_uri     = "${local.url}/"
  job_headers = { X-Job-Project = var.project, X-Job-Location = var.region }
}
