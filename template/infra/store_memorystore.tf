# The records: a Redis instance with a replica, AUTH and TLS, that only the network below can reach.
# Its URL holds the AUTH string, so it is a secret; its certificate authority comes the same way.
locals {
  store_services   = [for name in ["compute", "redis", "secretmanager"] : "${name}.googleapis.com"]
  store_name_limit = 40
  store_ca_file    = "${local.secrets_folder}/ca.pem"
  # The authority signs for this instance alone, so to trust it is enough: the name in the
  # certificate is not the address.
  store_url = join("", [
    "rediss://:${google_redis_instance.runs.auth_string}",
    "@${google_redis_instance.runs.host}:${google_redis_instance.runs.port}",
    "?ssl_ca_certs=${local.store_ca_file}&ssl_check_hostname=false",
  ])
}

resource "google_redis_instance" "runs" {
  name                    = local.names["runs"]
  region                  = var.region
  tier                    = "STANDARD_HA"
  memory_size_gb          = 1
  redis_version           = "REDIS_7_2"
  authorized_network      = "projects/${var.project}/global/networks/${var.network}"
  auth_enabled            = true
  transit_encryption_mode = "SERVER_AUTHENTICATION"

  # The default evicts exactly the keys that expire, which all records are.
  redis_configs = { maxmemory-policy = "noeviction" }

  depends_on = [google_project_service.required]

  # Without the records, work that is done would be done again.
  lifecycle {
    prevent_destroy = true
  }
}

resource "google_secret_manager_secret" "store" {
  for_each = toset(["url", "ca"])

  secret_id = "${var.service}-run-store-${each.key}"

  replication {
    auto {}
  }

  depends_on = [google_project_service.required]
}

resource "google_secret_manager_secret_version" "store_url" {
  secret      = google_secret_manager_secret.store["url"].id
  secret_data = local.store_url
}

resource "google_secret_manager_secret_version" "store_ca" {
  secret      = google_secret_manager_secret.store["ca"].id
  secret_data = join("\n", google_redis_instance.runs.server_ca_certs[*].cert)
}

resource "google_secret_manager_secret_iam_member" "store" {
  for_each = google_secret_manager_secret.store

  secret_id = each.value.secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.accounts["runner"].member
}
