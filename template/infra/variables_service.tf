# What can be changed for one installation: in a file of your own, such as sizes.auto.tfvars.
variable "image" {
  description = "Image that the service runs; empty before there is one. `make setup` and `make deploy` give it."
  type        = string

  validation {
    condition     = var.image == "" || can(regex("^[^@\\s]+@sha256:[0-9a-f]{64}$", var.image))
    error_message = "Name the image by its digest, as in HOST/PROJECT/REPOSITORY/NAME@sha256:DIGEST: a tag can come to mean another image."
  }
}

variable "concurrency" {
  description = "Requests that one instance takes at a time."
  type        = number
  default     = 80

  validation {
    condition     = var.concurrency >= 1 && var.concurrency <= 1000
    error_message = "Cloud Run allows 1 to 1000."
  }
}

variable "max_instances" {
  description = "Instances that Cloud Run may start."
  type        = number
  default     = 10

  validation {
    condition     = var.max_instances >= 1
    error_message = "Without an instance, no run happens."
  }
}

variable "cpu" {
  description = "CPUs of one instance."
  type        = string
  default     = "1"

  validation {
    condition     = contains(["1", "2", "4", "6", "8"], var.cpu)
    error_message = "Use 1, 2, 4, 6 or 8: with less than one CPU, Cloud Run gives CPU only during requests, and leases would not be renewed."
  }
}

variable "memory" {
  description = "Memory of one instance."
  type        = string
  default     = "512Mi"

  validation {
    condition     = can(regex("^[0-9]+(Mi|Gi)$", var.memory))
    error_message = "Write it as in 512Mi or 2Gi."
  }
}
