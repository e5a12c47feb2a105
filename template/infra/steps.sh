# shellcheck shell=bash
# What setting up and deploying have in common.

# stop REASON REMEDY
stop() {
  printf 'Stopped: %s\n%s\n' "$1" "$2" >&2
  exit 1
}

# need COMMAND
need() {
  command -v "$1" >/dev/null || stop "$1 is not installed." "Install it, and run this again."
}

initialize() {
  terraform init -input=false ||
    stop "Terraform cannot start." "Is backend.tf right, and are you logged in? gcloud auth application-default login"
}

# has_output NAME: the state has it. A state that cannot be read is no empty state: without the image
# that it remembers, a service that runs would have to go.
has_output() {
  local outputs
  outputs=$(terraform output -json) || stop "the state cannot be read." "What is above says why."
  [[ $outputs == *"\"$1\": {"* ]]
}

# output NAME: an output of the state.
output() {
  has_output "$1" || stop "nothing is set up yet." "Set up first: make setup"
  terraform output -raw "$1"
}
