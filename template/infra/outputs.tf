output "url" {
  description = "Root URL of the service, and the audience of the job's token."
  value       = local.url
}

output "image" {
  description = "Image that the service runs; empty before the first deployment."
  value       = var.image
}

output "images" {
  description = "Where images of the service are stored."
  value       = "${var.region}-docker.pkg.dev/${replace(var.project, ":", "/")}/${google_artifact_registry_repository.images.repository_id}/${var.service}"
}

output "builder" {
  description = "Full name of the account that builds images."
  value       = google_service_account.accounts["builder"].name
}

output "project" {
  description = "Id of the Google Cloud project."
  value       = var.project
}

output "region" {
  description = "Region of the service."
  value       = var.region
}
