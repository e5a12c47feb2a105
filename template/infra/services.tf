# The APIs that the resources need. They stay on when the resources are destroyed: others may use them.
resource "google_project_service" "required" {
  for_each = toset(concat(local.platform_services, local.store_services, local.kind_services, [
    "artifactregistry.googleapis.com",
    "cloudbuild.googleapis.com",
    "cloudresourcemanager.googleapis.com",
    "iam.googleapis.com",
  ]))

  project            = var.project
  service            = each.value
  disable_on_destroy = false
}
