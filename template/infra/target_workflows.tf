# A workflow of this project's own, from workflow.yaml. It runs as an account of its own, and keeps its
# records in a Firestore database of its own.
locals {
  target              = "projects/${var.project}/locations/${var.region}/workflows/${google_workflows_workflow.workflow.name}"
  target_services     = [for name in ["firestore", "workflowexecutions", "workflows"] : "${name}.googleapis.com"]
  target_accounts     = { workflow = "runs the workflow" }
  workflow_collection = "workflow_runs"
}

resource "google_workflows_workflow" "workflow" {
  name                = var.service
  region              = var.region
  service_account     = google_service_account.accounts["workflow"].name
  source_contents     = file("${path.module}/../workflow.yaml")
  deletion_protection = var.deletion_protection

  user_env_vars = {
    STEP_URL      = var.step_url
    STEP_AUDIENCE = var.step_audience == "" ? regex("^https://[^/]+", var.step_url) : var.step_audience
    DATABASE      = google_firestore_database.workflow.name
  }

  depends_on = [google_project_service.required]
}

resource "google_firestore_database" "workflow" {
  name                    = "${var.service}-workflow"
  location_id             = var.region
  type                    = "FIRESTORE_NATIVE"
  delete_protection_state = var.deletion_protection ? "DELETE_PROTECTION_ENABLED" : "DELETE_PROTECTION_DISABLED"
  deletion_policy         = "DELETE"

  depends_on = [google_project_service.required]
}

# The field rises with time: an index on it would take all writes at one place.
resource "google_firestore_field" "workflow" {
  database   = google_firestore_database.workflow.name
  collection = local.workflow_collection
  field      = "expire_at"

  index_config {}
  ttl_config {}
}

resource "google_project_iam_member" "workflow" {
  project = var.project
  role    = "roles/datastore.user"
  member  = google_service_account.accounts["workflow"].member

  condition {
    title      = "${google_firestore_database.workflow.name} only"
    expression = "resource.name == \"projects/${var.project}/databases/${google_firestore_database.workflow.name}\""
  }
}

resource "google_project_iam_member" "workflow_log" {
  project = var.project
  role    = "roles/logging.logWriter"
  member  = google_service_account.accounts["workflow"].member
}

# To start executions and to find them: on the project, as a workflow has no roles of its own.
resource "google_project_iam_member" "target" {
  for_each = toset(["roles/workflows.invoker", "roles/workflows.viewer"])

  project = var.project
  role    = each.value
  member  = google_service_account.accounts["runner"].member
}

output "workflow_account" {
  description = "E-mail address of the account as which the workflow calls its step, whose owner lets it in."
  value       = google_service_account.accounts["workflow"].email
}
