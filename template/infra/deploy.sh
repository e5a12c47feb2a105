#!/usr/bin/env bash
# Build an image and deploy it, or deploy IMAGE; arguments go to `terraform apply`.
set -euo pipefail
cd "$(dirname "$0")"

# Print an output of Terraform's.
output() {
  terraform output -raw "$1" 2>/dev/null || {
    echo "error: Terraform's state has no $1; run make setup first" >&2
    exit 1
  }
}

# Build the source in the folder above and print the image by its digest.
build() {
  local project region images builder tag
  project=$(output project)
  region=$(output region)
  images=$(output images)
  builder=$(output builder)
  tag=$images:$(date -u +%Y%m%d-%H%M%S)
  gcloud builds submit .. --config=cloudbuild.yaml --substitutions="_IMAGE=$tag" \
    --service-account="$builder" --project="$project" --region="$region" --quiet >&2
  gcloud artifacts docker images describe "$tag" --project="$project" \
    --format='value(image_summary.fully_qualified_digest)'
}

for tool in terraform gcloud; do
  if ! command -v "$tool" >/dev/null; then
    echo "error: $tool is not installed" >&2
    exit 1
  fi
done

terraform init -input=false >/dev/null
image=${IMAGE:-$(build)}
echo "Deploying $image"
terraform apply -var "image=$image" "$@"
echo "The service is at $(output url)"
