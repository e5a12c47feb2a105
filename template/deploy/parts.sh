# shellcheck shell=bash
# What both commands need: the settings, the names, and the chosen kind, platform, store and check.
#
# A kind has `allowed`, the accounts whose tokens let in, `kind_setup`, `kind_check`,
# `kind_environment`, which adds to `environment` of the service, and `kind_deploy`. A platform has
# `platform_setup` and `platform_deploy`, which starts from `service_environment`. A store has
# `store_setup`, and `store_deploy`, which adds to `environment` and `secrets` of the service. A
# check of the caller has `auth_environment`, which adds to `environment`, and `auth_deploy`.

source deploy/config.sh
source deploy/names.sh
source deploy/steps.sh
source deploy/environment.sh
apis=(artifactregistry cloudbuild iam)
# shellcheck disable=SC1090 # One is there.
source "deploy/kind/$KIND.sh"
# shellcheck disable=SC1090 # One is there.
source "deploy/platform/$PLATFORM.sh"
# shellcheck disable=SC1090 # One is there.
source "deploy/store/$STORE.sh"
# shellcheck disable=SC1090 # One is there.
source "deploy/auth/$AUTH.sh"

# gcloud takes the project from here, and asks nothing.
export CLOUDSDK_CORE_PROJECT=$GOOGLE_CLOUD_PROJECT
export CLOUDSDK_CORE_DISABLE_PROMPTS=1

if ! command -v gcloud >/dev/null; then
  stop "gcloud is not installed." "Install the Google Cloud CLI, and log in: gcloud auth login"
fi
