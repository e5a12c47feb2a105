#!/usr/bin/env bash
# `make setup`: what the service needs before its first deployment. It changes nothing that is
# there already, and can be run again at any time.
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/.."
source deploy/parts.sh

say "Setting up $SERVICE in the project $GOOGLE_CLOUD_PROJECT, region $REGION"
step "enable the APIs ${apis[*]}" \
  "You need roles/serviceusage.serviceUsageAdmin, and the project needs a billing account." \
  gcloud services enable "${apis[@]/%/.googleapis.com}"
account "$RUNNER" "the service runs as this account"
platform_setup
store_setup
kind_setup
say "Set up. Next: make deploy"
