# A queue of Cloud Tasks, which is there already. Its tasks act as `target_account`.
locals {
  target          = var.target
  target_form     = "projects/PROJECT/locations/LOCATION/queues/QUEUE"
  target_pattern  = "^projects/[^/\\s]+/locations/[^/\\s]+/queues/[^/\\s]+$"
  target_services = ["cloudtasks.googleapis.com"]
  target_accounts = {}
}

resource "google_cloud_tasks_queue_iam_member" "target" {
  project  = split("/", var.target)[1]
  location = split("/", var.target)[3]
  name     = split("/", var.target)[5]
  role     = "roles/cloudtasks.enqueuer"
  member   = google_service_account.accounts["runner"].member
}
