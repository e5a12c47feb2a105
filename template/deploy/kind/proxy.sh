# shellcheck shell=bash
# A proxy, which a Cloud Scheduler job calls, and which starts its target. Of what it starts, a file
# in deploy/target has `target_setup`; where it is made here, `target_check` and `target_deploy` too.

source deploy/job.sh

JOB_BODY=job_body.json # The body of the job's requests.

# named_target FORM: TARGET has the form, in which words in capitals stand for anything.
named_target() {
  local pattern
  pattern=$(sed 's/[A-Z][A-Z]*/[^\/[:space:]]+/g' <<<"$1")
  if [[ ! $TARGET =~ ^$pattern$ ]]; then
    stop "TARGET is '$TARGET', which names nothing to start." "Set it in deploy/config.sh, in the form $1"
  fi
  IFS=/ read -r _ target_project _ target_location _ target_name <<<"$TARGET"
}

# What is started acts as an account of its own, which to hand to it is a right too.
let_act_as() {
  if [[ -n $TARGET_ACCOUNT ]]; then
    grant "$RUNNER" roles/iam.serviceAccountUser \
      gcloud iam service-accounts add-iam-policy-binding "$TARGET_ACCOUNT" --condition=None
  else
    say "- TARGET_ACCOUNT is empty: there is no account to act as"
  fi
}

target_check() { :; }
target_deploy() { :; }
# shellcheck disable=SC1090 # One is there.
source "deploy/target/$TARGET_KIND.sh"

kind_setup() {
  job_setup
  target_setup
}

kind_check() {
  job_check
  job_headers+=(Content-Type=application/json)
  if [[ ! -f $JOB_BODY ]] || ! python3 -m json.tool "$JOB_BODY" >/dev/null; then
    stop "$JOB_BODY is no JSON file, and the job sends what is in it." \
      "Write it; {} is a request with nothing in it."
  fi
  job_flags+=("--message-body-from-file=$JOB_BODY")
  target_check
}

kind_environment() {
  job_environment
  environment+=("TARGET=$TARGET")
}

kind_deploy() {
  target_deploy
  job_deploy
}
