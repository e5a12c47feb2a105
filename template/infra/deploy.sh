#!/usr/bin/env bash
# `make deploy`: build an image and deploy it, or deploy IMAGE. Arguments go to `terraform apply`.
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")"
source ./steps.sh

# Build the source in the folder above, and print the image by its digest.
build() {
  local project region images builder tag
  project=$(output project) || exit 1
  region=$(output region) || exit 1
  images=$(output images) || exit 1
  builder=$(output builder) || exit 1
  tag=$images:$(date -u +%Y%m%d-%H%M%S)
  gcloud builds submit .. --config=cloudbuild.yaml --substitutions="_IMAGE=$tag" \
    --service-account="$builder" --project="$project" --region="$region" --quiet >&2 ||
    stop "the build failed." "You need roles/cloudbuild.builds.editor, roles/storage.admin, and \
roles/iam.serviceAccountUser on ${builder##*/}."
  gcloud artifacts docker images describe "$tag" --project="$project" --quiet \
    --format='value(image_summary.fully_qualified_digest)' ||
    stop "the image $tag cannot be read." "You need roles/artifactregistry.reader."
}

need terraform
initialize
image=${IMAGE:-}
if [[ -z $image ]]; then
  need gcloud
  image=$(build)
fi
terraform apply -var "image=$image" "$@"
echo "$image runs at $(output url)"
