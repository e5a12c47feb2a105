# shellcheck shell=bash
# The application checks the caller, and the platform does not (R33).

source deploy/token.sh

platform_checks_caller=false

auth_deploy() {
  say "- the platform lets every request through: the application verifies the token of each"
}
