variable "step_url" {
  description = "URL that the workflow calls, with the run's token."
  type        = string

  validation {
    condition     = can(regex("^https://[^/\\s]+(/\\S*)?$", var.step_url))
    error_message = "Write the https:// URL of the step."
  }
}

variable "step_audience" {
  description = "Audience of the token that the workflow sends; empty for the root of step_url."
  type        = string
  default     = ""
}
