# The way from App Engine to the network, and what the service fetches at its start.
locals {
  secrets_folder = "/tmp"
  store_environment = {
    vpc_access_connector = google_vpc_access_connector.runs.id
    SECRETS = join(",", [
      "RUN_STORE_URL=${google_secret_manager_secret.store["url"].id}",
      "${local.store_ca_file}=${google_secret_manager_secret.store["ca"].id}",
    ])
  }
}

resource "google_project_service" "connector" {
  project            = var.project
  service            = "vpcaccess.googleapis.com"
  disable_on_destroy = false
}

resource "google_vpc_access_connector" "runs" {
  name          = local.names["vpc"]
  region        = var.region
  network       = var.network
  ip_cidr_range = var.connector_range
  min_instances = 2
  max_instances = 3

  depends_on = [google_project_service.connector]
}
