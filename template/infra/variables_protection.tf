variable "deletion_protection" {
  description = "Whether the service and its records are protected from `terraform destroy`."
  type        = bool
  default     = true
}
