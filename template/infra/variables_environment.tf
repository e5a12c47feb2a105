variable "environment" {
  description = "Environment variables of your own for the service; those that the deployment sets go before them."
  type        = map(string)
  default     = {}
}
