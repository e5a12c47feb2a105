# The service. It is there from the first `make deploy` on, as there is no image before.
locals {
  deployed = var.image == "" ? 0 : 1
  # Known before the service is there, so that the service can be told its own audience.
  url = "https://${var.service}-${data.google_project.this.number}.${var.region}.run.app"

  platform_services = ["run.googleapis.com"]
}

data "google_project" "this" {
  project_id = var.project

  depends_on = [google_project_service.required]
}

resource "google_cloud_run_v2_service" "service" {
  count = local.deployed

  name                 = var.service
  location             = var.region
  ingress              = "INGRESS_TRAFFIC_ALL"
  invoker_iam_disabled = local.auth == "verify"
  deletion_protection  = var.deletion_protection

  template {
    service_account                  = google_service_account.accounts["runner"].email
    timeout                          = "${var.attempt_deadline}s"
    max_instance_request_concurrency = var.concurrency

    scaling {
      max_instance_count = var.max_instances
    }

    containers {
      image = var.image

      # With CPU only during requests, nothing would renew the lease of work that goes on after its
      # request has timed out.
      resources {
        limits   = { cpu = var.cpu, memory = var.memory }
        cpu_idle = false
      }

      dynamic "env" {
        for_each = merge(local.environment, { GOOGLE_CLOUD_PROJECT = var.project })
        content {
          name  = env.key
          value = env.value
        }
      }
    }
  }

  depends_on = [google_project_service.required]
}
