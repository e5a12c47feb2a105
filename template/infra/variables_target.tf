variable "target" {
  description = "What the proxy starts: a full resource name, or a URL."
  type        = string

  validation {
    condition     = can(regex(local.target_pattern, var.target))
    error_message = "Write it in the form ${local.target_form}."
  }
}
