variable "spanner_instance" {
  description = "Spanner instance to share, which is there already; empty makes one."
  type        = string
  default     = ""
}
