#!/usr/bin/env bash
# `make deploy`: build, deploy, let the job's account in, and create or update the job.
set -euo pipefail
cd "$(dirname "$0")/.."
source deploy/parts.sh
source deploy/job.sh

say "Deploying $SERVICE to the project $GOOGLE_CLOUD_PROJECT, region $REGION"
# First what may refuse.
retries
job_scope
platform_deploy
auth_deploy
job_deploy
say "Deployed. The service: $URL"
say "A run at once: gcloud scheduler jobs run $JOB_ID --location=$REGION" \
  "--project=$GOOGLE_CLOUD_PROJECT"
