# shellcheck shell=bash
# A step, which the accounts in CALLERS call, and no Cloud Scheduler job.

IFS=, read -ra allowed <<<"$CALLERS"

kind_setup() { :; }

kind_check() {
  if [[ ! $CALLERS =~ ^[^@,:[:space:]]+@[^@,:[:space:]]+(,[^@,:[:space:]]+@[^@,:[:space:]]+)*$ ]]; then
    stop "CALLERS is '$CALLERS', so that nobody could call the service." \
      "Set it in deploy/config.sh to the e-mail addresses of the callers' service accounts, with\
 commas between them."
  fi
}

kind_environment() { :; }
kind_deploy() { :; }
