# What the scripts in infra/ read of a state, and what pages set; nothing of it needs a provider.
variable "image" { type = string }
variable "service" { default = "nightly-report" }
variable "deletion_protection" { default = true }
output "image" { value = var.image }
output "images" { value = "us-central1-docker.pkg.dev/my-project/nightly-report/nightly-report" }
output "url" { value = "https://service.example" }
output "project" { value = "my-project" }
output "region" { value = "us-central1" }
output "builder" { value = "projects/my-project/serviceAccounts/builder@example.com" }
output "run_store_url" { value = "sqlite:///.local/runs.db" }
