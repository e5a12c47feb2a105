# What the template's questions answered about the Cloud Scheduler job, and its retries.
variable "description" {
  description = "What the job is called; people read it."
  type        = string

  validation {
    condition     = length(var.description) >= 1 && length(var.description) <= 500
    error_message = "Cloud Scheduler allows 1 to 500 characters."
  }
}

variable "schedule" {
  description = "When the job runs: five unix-cron fields."
  type        = string

  validation {
    condition     = can(regex("^([0-9A-Z*/,-]+ ){4}[0-9A-Z*/,-]+$", var.schedule))
    error_message = "Write five unix-cron fields, as in */15 * * * *: with an English schedule, no run could be told from the next."
  }
}

variable "time_zone" {
  description = "Time zone of the schedule."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z]", var.time_zone))
    error_message = "Use a name of the tz database, such as Etc/UTC or Europe/Berlin, not an offset."
  }
}

variable "retries" {
  description = "How the job is retried; times are in seconds. `make setup` and `make deploy` derive it from schedule, deadline and lease, in retries.auto.tfvars.json."
  type = object({
    retry_count        = number
    min_backoff        = number
    max_backoff        = number
    max_doublings      = number
    max_retry_duration = number
  })

  validation {
    condition     = var.retries.retry_count >= 1 && var.retries.retry_count <= 5
    error_message = "Cloud Scheduler allows 5 retries; without one, a run whose attempt crashes is lost."
  }
}
