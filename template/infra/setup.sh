#!/usr/bin/env bash
# `make setup`: create or change everything but the image. Arguments go to `terraform apply`.
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")"
source ./steps.sh

# The image that the state remembers, or nothing.
running_image() {
  if has_output image; then terraform output -raw image; fi
}

need terraform
initialize
image=$(running_image)
terraform apply -var "image=$image" "$@"
if [[ -z $image ]]; then
  echo "All is set up but the service and its job. Next: make deploy"
fi
