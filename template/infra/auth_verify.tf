# The platform's check is off: everybody reaches the service, and the service verifies every token.
locals {
  auth = "verify"
}
