# shellcheck shell=bash
# A job that calls a service of App Engine, which knows it without a token.

allowed=()
job_field=appEngineHttpTarget

job_setup() { :; }

job_target() { job_flags+=("--service=$SERVICE" "--relative-url=$job_path"); }
