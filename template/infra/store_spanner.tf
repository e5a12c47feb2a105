# The records: the smallest instance, or one that is there already, and a database in which Spanner
# deletes what has expired.
locals {
  store_services    = ["spanner.googleapis.com"]
  store_name_limit  = 30
  store_url         = "spanner://${var.project}/${local.instance}/${google_spanner_database.runs.name}?table=scheduler_runs"
  store_environment = { RUN_STORE_URL = local.store_url }
  instance          = var.spanner_instance == "" ? google_spanner_instance.runs[0].name : var.spanner_instance
  # The application's own statements, so that there is one text of the tables.
  statements = split(";", replace(file("${path.module}/../app/dedup/stores/spanner.sql"), "/(?m)^--.*$/", ""))
}

resource "google_spanner_instance" "runs" {
  count = var.spanner_instance == "" ? 1 : 0

  name             = "${var.service}-runs"
  display_name     = local.names["runs"]
  config           = "regional-${var.region}"
  edition          = "STANDARD"
  processing_units = 100

  depends_on = [google_project_service.required]
}

resource "google_spanner_database" "runs" {
  instance               = local.instance
  name                   = var.spanner_instance == "" ? "runs" : local.names["runs"]
  ddl                    = compact([for statement in local.statements : trimspace(statement)])
  deletion_protection    = var.deletion_protection
  enable_drop_protection = var.deletion_protection

  depends_on = [google_project_service.required]
}

resource "google_spanner_database_iam_member" "runs" {
  instance = local.instance
  database = google_spanner_database.runs.name
  role     = "roles/spanner.databaseUser"
  member   = google_service_account.accounts["runner"].member
}

output "run_store_url" {
  description = "RUN_STORE_URL, for `make runs` on your own machine."
  value       = local.store_url
}
