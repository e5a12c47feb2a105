# shellcheck shell=bash
# What deployment and code have to agree on is told to the service, not left to the code's defaults.

# The environment and the secrets of the service, which answers at $URL.
service_environment() {
  environment=(
    "SERVICE=$SERVICE"
    "JOB_SCOPE=$JOB_SCOPE"
    "ATTEMPT_DEADLINE_SECONDS=$ATTEMPT_DEADLINE_SECONDS"
    "LEASE_SECONDS=$LEASE_SECONDS"
    "RETENTION_SECONDS=$RETENTION_SECONDS"
    "AUTH=$AUTH"
  )
  secrets=()
  auth_environment
  kind_environment
  local variable
  for variable in "${environment[@]}"; do
    if [[ $variable == *['|'$'\n']* ]]; then
      stop "${variable%%=*} has a | or a line break in it." "Set it to something without."
    fi
  done
}
