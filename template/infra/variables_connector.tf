variable "connector_range" {
  description = "Addresses of the network that nobody else has, for the connector: a /28."
  type        = string
  default     = "10.8.0.0/28"

  validation {
    condition     = can(cidrhost(var.connector_range, 0)) && endswith(var.connector_range, "/28")
    error_message = "Write a /28, such as 10.8.0.0/28."
  }
}
