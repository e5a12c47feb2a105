variable "subnetwork" {
  description = "Subnetwork, in the region, of whose addresses the service's instances take some: /26 or larger."
  type        = string
  default     = "default"
}
