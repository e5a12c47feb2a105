# shellcheck shell=bash
# A job that calls a URL, with a token that is meant for the service's root URL.

CALLER=$(fitted caller 30) # The job sends this account's token.
allowed=("$(address "$CALLER")")
job_field=httpTarget

job_setup() { account "$CALLER" "the Cloud Scheduler job sends its token"; }

job_target() {
  job_flags+=(
    "--uri=$URL$job_path"
    "--oidc-service-account-email=$(address "$CALLER")"
    "--oidc-token-audience=$URL"
  )
}
