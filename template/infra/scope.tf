# What the job calls. It names neither its project nor its region, as only one of each calls this service.
locals {
  job_scope   = "none"
  job_path    = "/"
  job_headers = {}
}
