variable "network" {
  description = "VPC network through which the service reaches its records."
  type        = string
  default     = "default"
}
