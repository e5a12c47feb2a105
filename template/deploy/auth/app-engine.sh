# shellcheck shell=bash
# App Engine checks the caller, by `login: admin` in app.yaml (R33).

auth_environment() { :; }

auth_deploy() {
  say "- App Engine lets Cloud Scheduler and the project's administrators through"
}
