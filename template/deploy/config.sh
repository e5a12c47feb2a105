# shellcheck shell=bash
# What is deployed, and where. The environment goes before a value that is written with `:-`, as in
# `SERVICE=report-staging make setup deploy`, and a value of your own before the ones further down.

# Environment variables of your own for the service, as in own_environment=(BUCKET=reports). One that
# you take out, `gcloud run services update SERVICE --remove-env-vars=NAME` removes there.
own_environment=()

# Your settings go below this line.

# Your settings end here. These are the template's answers: to change one for good, run
# `copier update -d NAME=VALUE`.
KIND=handler
PLATFORM=cloud-run
STORE=firestore
AUTH=iam
JOB_TYPE=http

GOOGLE_CLOUD_PROJECT=${GOOGLE_CLOUD_PROJECT:-my-project}
REGION=${REGION:-us-central1}
SERVICE=${SERVICE:-nightly-report}

# The job, from which dev.budget derives the retries. Deadline, lease and retention are in seconds.
JOB_ID=${JOB_ID:-$SERVICE}
SCHEDULE=${SCHEDULE:-*/15 * * * *}
TIME_ZONE=${TIME_ZONE:-Etc/UTC}
JOB_SCOPE=${JOB_SCOPE:-none}
ATTEMPT_DEADLINE_SECONDS=${ATTEMPT_DEADLINE_SECONDS:-180}
LEASE_SECONDS=${LEASE_SECONDS:-60}
RETENTION_SECONDS=${RETENTION_SECONDS:-172800}

# The size of an instance, and how many there may be.
CPU=${CPU:-1}
MEMORY=${MEMORY:-512Mi}
MAX_INSTANCES=${MAX_INSTANCES:-10}
