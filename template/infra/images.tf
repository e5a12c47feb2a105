# Where `make deploy` builds the image, and as whom: an account that can do nothing else.
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
