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
  add_own_environment
  local variable
  for variable in "${environment[@]}"; do
    if [[ $variable == *['|'$'\n']* ]]; then
      stop "${variable%%=*} has a | or a line break in it." "Set it to something without."
    fi
  done
}

# The owner's variables, which take the place of none that is set here.
add_own_environment() {
  local variable name set_here=" RUN_STORE_URL GOOGLE_CLOUD_PROJECT ${environment[*]%%=*} "
  # An empty list, spelt so that old versions of bash accept it.
  for variable in ${own_environment[@]+"${own_environment[@]}"}; do
    name=${variable%%=*}
    if [[ ! $variable =~ ^[A-Za-z_][A-Za-z0-9_]*= ]]; then
      stop "own_environment in deploy/config.sh has '$variable', which is no NAME=VALUE." \
        "Write it as in own_environment=(BUCKET=reports)."
    elif [[ $set_here == *" $name "* ]]; then
      stop "own_environment in deploy/config.sh has $name, which the deployment sets." \
        "Take it out: $name follows from the other settings there."
    fi
    environment+=("$variable")
  done
}
