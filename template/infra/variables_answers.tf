# What the template's questions answered. The values are in answers.auto.tfvars, which
# `copier update -d NAME=VALUE` changes: `make check` looks at the answers alone.
variable "project" {
  description = "Id of the Google Cloud project."
  type        = string

  validation {
    condition     = can(regex("^([a-z0-9.-]+:)?[a-z][a-z0-9-]*[a-z0-9]$", var.project))
    error_message = "Use the project's id, such as my-project, not its name or number."
  }
}

variable "region" {
  description = "Region of the service, its records and its Cloud Scheduler job."
  type        = string

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "Use the name of one region, such as us-central1, not of a zone or a multi-region."
  }
}

variable "service" {
  description = "Name of the service and its Cloud Scheduler job; part of every run's key."
  type        = string

  validation {
    condition     = can(regex("^[a-z]([a-z0-9-]{0,47}[a-z0-9])?$", var.service))
    error_message = "Use 1 to 49 lower-case letters, digits and hyphens; begin with a letter and do not end with a hyphen."
  }
}

variable "attempt_deadline" {
  description = "Seconds that one attempt may take: the job's attempt deadline and the service's request time-out."
  type        = number

  validation {
    condition     = var.attempt_deadline >= 15 && var.attempt_deadline <= 86415
    error_message = "Cloud Scheduler allows an HTTP target 15 to 1800 seconds, an App Engine target 15 to 86415."
  }
}

variable "lease" {
  description = "Seconds without a renewal after which an attempt is taken for dead."
  type        = number

  validation {
    condition     = var.lease >= 5 && var.lease <= 3600
    error_message = "Use 5 to 3600 seconds."
  }
}

variable "retention" {
  description = "Hours for which the record of a run is kept."
  type        = number

  validation {
    condition     = var.retention >= 1 && var.retention <= 8760
    error_message = "Use 1 to 8760 hours."
  }
}
