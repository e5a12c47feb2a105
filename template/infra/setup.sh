#!/usr/bin/env bash
# Create or change everything but the image; arguments go to `terraform apply`.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v terraform >/dev/null; then
  echo "error: terraform is not installed; https://developer.hashicorp.com/terraform/install says how" >&2
  exit 1
fi

terraform init -input=false
# The state remembers which image runs. If it cannot be read, this stops here: without the image,
# the service would have to go.
terraform output -json >/dev/null
image=$(terraform output -raw image 2>/dev/null || true)
terraform apply -var "image=$image" "$@"
if [ -z "$image" ]; then
  echo "Everything but the service and its job is there. Next: make deploy"
fi
