#!/usr/bin/env bash
# `make setup`: create or change everything but the service. Arguments go to `terraform apply`.
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")"
source ./steps.sh
source ./app_steps.sh

apply_around "$@"
if [[ $deployed == false ]]; then
  echo "All is set up but the service and its job. Next: make deploy"
fi
