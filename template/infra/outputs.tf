output "url" {
  description = "Root URL of the service, and the audience of the job's token."
  value       = local.url
}

output "project" {
  description = "Id of the Google Cloud project."
  value       = var.project
}

output "region" {
  description = "Region of the service."
  value       = var.region
}
