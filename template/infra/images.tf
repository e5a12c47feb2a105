# Where `make deploy` builds the image, and as whom: an account that can do nothing else.
locals {
  platform_accounts = { builder = "builds the image" }
}

# Reads the source, stores the image and writes the build's log.
resource "google_project_iam_member" "builder" {
  project = var.project
  role    = "roles/run.builder"
  member  = google_service_account.accounts["builder"].member
}

resource "google_artifact_registry_repository" "images" {
  repository_id = var.service
  location      = var.region
  format        = "DOCKER"
  description   = "Images of ${var.service}"

  # Cloud Run keeps a copy of what it runs; the newest ten are for going back.
  cleanup_policies {
    id     = "keep-the-newest"
    action = "KEEP"
    most_recent_versions {
      keep_count = 10
    }
  }

  cleanup_policies {
    id     = "delete-old-ones"
    action = "DELETE"
    condition {
      older_than = "2592000s"
    }
  }

  depends_on = [google_project_service.required]
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
