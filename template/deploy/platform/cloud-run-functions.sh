# shellcheck shell=bash
# A function on Cloud Run, built by Google Cloud's buildpacks.

source deploy/cloud-run.sh

platform_flags=(--source=. --function=handle_scheduled_job --base-image=python313)

platform_setup() { cloud_run_setup; }

platform_deploy() {
  if [[ ! -f requirements.txt ]]; then
    stop "there is no requirements.txt, which says what to install." "Make it: make deploy"
  fi
  cloud_run_deploy
}
