# shellcheck shell=bash
# App Engine checks the caller, by `login: admin` in app.yaml (R33). Its jobs send no token.

job_type=app-engine
job_field=appEngineHttpTarget

auth_setup() { :; }

auth_environment() { :; }

auth_target() { job_target=("--service=$SERVICE" "--relative-url=$job_path"); }

auth_deploy() {
  say "- App Engine lets Cloud Scheduler and the project's administrators through"
}
