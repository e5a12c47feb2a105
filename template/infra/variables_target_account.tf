variable "target_account" {
  description = "E-mail address of the account as which what is started acts; empty for none."
  type        = string

  validation {
    condition     = var.target_account == "" || can(regex("^[^@\\s]+@[^@\\s]+$", var.target_account))
    error_message = "Write the e-mail address of a service account, or nothing."
  }
}
