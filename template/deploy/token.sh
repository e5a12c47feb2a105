# shellcheck shell=bash
# Who calls sends a token, which is meant for the service's root URL.

auth_environment() {
  environment+=("AUTH_AUDIENCE=$URL" "AUTH_SERVICE_ACCOUNT=$(join , "${allowed[@]}")")
}
