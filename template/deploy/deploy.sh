#!/usr/bin/env bash
# `make deploy`: build, deploy, let the callers in, and bring up to date what calls and is called.
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/.."
source deploy/parts.sh

say "Deploying $SERVICE to the project $GOOGLE_CLOUD_PROJECT, region $REGION"
# First what may refuse.
kind_check
platform_deploy
auth_deploy
kind_deploy
say "Deployed. The service: $URL"
