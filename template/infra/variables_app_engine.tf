variable "app" {
  description = "The project's App Engine app: its place, its address, and the bucket for sources. `make setup` and `make deploy` ask gcloud, and write app.auto.tfvars.json."
  type = object({
    locationId      = string
    defaultHostname = string
    codeBucket      = string
  })

  validation {
    condition     = var.app.locationId == lookup({ us-central1 = "us-central", europe-west1 = "europe-west" }, var.region, var.region)
    error_message = "The App Engine app is elsewhere, for good: choose its region, or another Google Cloud project."
  }
}

variable "deployed" {
  description = "Whether the service is there, so that a job can call it. `make setup` and `make deploy` give it."
  type        = bool
}
