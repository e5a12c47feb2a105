variable "callers" {
  description = "E-mail addresses of the service accounts that may call, as in [\"handler@my-project.iam.gserviceaccount.com\"]."
  type        = list(string)

  validation {
    condition     = length(var.callers) > 0 && alltrue([for address in var.callers : can(regex("^[^@,\\s]+@[^@,\\s]+$", address))])
    error_message = "Without an account that may call, nobody could: write its e-mail address, as in [\"handler@my-project.iam.gserviceaccount.com\"]."
  }
}
