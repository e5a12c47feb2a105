# shellcheck shell=bash
# What both commands need: the settings, the names, and the chosen platform, store and check.
#
# A platform has `platform_apis`, `platform_setup` and `platform_deploy`, which starts from
# `service_environment`. A store has `store_apis`, `store_setup`, and `store_deploy`, which adds to
# `environment` and `secrets` of the service. A check of the caller has `auth_setup`,
# `auth_environment`, which adds to `environment`, `auth_target`, which says what the job calls, and
# `auth_deploy`.

source deploy/config.sh
source deploy/names.sh
source deploy/steps.sh
source deploy/environment.sh
# shellcheck disable=SC1090 # One is there.
source "deploy/platform/$PLATFORM.sh"
# shellcheck disable=SC1090 # One is there.
source "deploy/store/$STORE.sh"
# shellcheck disable=SC1090 # One is there.
source "deploy/auth/$AUTH.sh"

# For the project's own code, which derives the job's retries.
PYTHON=${PYTHON:-.venv/bin/python}
export SERVICE JOB_ID SCHEDULE TIME_ZONE ATTEMPT_DEADLINE_SECONDS LEASE_SECONDS

# gcloud takes the project from here, and asks nothing.
export CLOUDSDK_CORE_PROJECT=$GOOGLE_CLOUD_PROJECT
export CLOUDSDK_CORE_DISABLE_PROMPTS=1

if ! command -v "$PYTHON" >/dev/null; then
  stop "there is no $PYTHON." "Install the project: make install"
fi
if ! command -v gcloud >/dev/null; then
  stop "gcloud is not installed." "Install the Google Cloud CLI, and log in: gcloud auth login"
fi
