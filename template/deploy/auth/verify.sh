# shellcheck shell=bash
# The application checks the caller: Cloud Run's own check is switched off (R33).

auth_flags=(--no-allow-unauthenticated --no-invoker-iam-check)

auth_deploy() {
  say "- Cloud Run lets every request through: the application verifies the token of each"
}
