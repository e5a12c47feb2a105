# The records: a database of the service's own, in which Firestore deletes what has expired.
locals {
  store_services    = ["firestore.googleapis.com"]
  store_name_limit  = 63
  collection        = "scheduler_runs"
  store_url         = "firestore://${var.project}/${google_firestore_database.runs.name}?collection=${local.collection}"
  store_environment = { RUN_STORE_URL = local.store_url }
}

resource "google_firestore_database" "runs" {
  name                    = local.names["runs"]
  location_id             = var.region
  type                    = "FIRESTORE_NATIVE"
  delete_protection_state = var.deletion_protection ? "DELETE_PROTECTION_ENABLED" : "DELETE_PROTECTION_DISABLED"
  deletion_policy         = "DELETE"

  depends_on = [google_project_service.required]
}

# Both fields rise with time: an index on one would take all writes at one place, and nothing
# searches by them.
resource "google_firestore_field" "expire_at" {
  database   = google_firestore_database.runs.name
  collection = local.collection
  field      = "expire_at"

  index_config {}
  ttl_config {}
}

resource "google_firestore_field" "lease_expires" {
  database   = google_firestore_database.runs.name
  collection = local.collection
  field      = "lease_expires"

  index_config {}
}

resource "google_project_iam_member" "runs" {
  project = var.project
  role    = "roles/datastore.user"
  member  = google_service_account.accounts["runner"].member

  condition {
    title      = "${google_firestore_database.runs.name} only"
    expression = "resource.name == \"projects/${var.project}/databases/${google_firestore_database.runs.name}\""
  }
}

output "run_store_url" {
  description = "RUN_STORE_URL, for `make runs` on your own machine."
  value       = local.store_url
}
