# shellcheck shell=bash
# A container of the Dockerfile on Cloud Run.

source deploy/cloud-run.sh

platform_flags=(--source=. --clear-base-image)

platform_setup() { cloud_run_setup; }

platform_deploy() {
  if [[ ! -f uv.lock ]]; then
    stop "there is no uv.lock, which says what to install." "Make and commit it: make install"
  fi
  cloud_run_deploy
}
