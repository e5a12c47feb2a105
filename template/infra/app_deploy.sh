#!/usr/bin/env bash
# `make deploy`: bring everything up to date, then build and deploy the service. The job comes with
# the first one. Arguments go to `terraform apply`.
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")"
source ./steps.sh
source ./app_steps.sh

apply_around "$@"
changes=$(output app_yaml) || exit 1
service=$(sed -n 's/^service=//p' <<<"$changes")
if [[ $service != default ]] && ! gcloud app services describe default \
  --project="$project" --quiet --format=none; then
  stop "the App Engine app has no service named default, and the first one has to be that." \
    "Deploy any service under this name, for example an empty page (see the README)."
fi
cd ..
changed=$PWD/.app.yaml
trap 'rm -f "$changed"' EXIT
"${PYTHON:-.venv/bin/python}" -m dev.app_yaml <<<"$changes" >"$changed" ||
  stop "app.yaml cannot be read." "What is above says why."
gcloud app deploy "$changed" --project="$project" --quiet ||
  stop "the service could not be deployed." "You need roles/appengine.deployer,\
 roles/appengine.serviceAdmin, roles/storage.objectAdmin, roles/cloudbuild.builds.editor, and\
 roles/iam.serviceAccountUser on the account in the service's app.yaml."
cd infra
if [[ $deployed == false ]]; then
  terraform apply -var deployed=true "$@"
fi
echo "$service runs at $(output url)"
