# shellcheck shell=bash
# A job that calls a URL, with a token that is meant for the service's root URL.

CALLER=$(fitted caller 30) # The job sends this account's token.

job_type=http
job_field=httpTarget

auth_setup() { account "$CALLER" "the Cloud Scheduler job sends its token"; }

auth_environment() {
  environment+=("AUTH_AUDIENCE=$URL" "AUTH_SERVICE_ACCOUNT=$(address "$CALLER")")
}

auth_target() {
  job_target=(
    "--uri=$URL$job_path"
    "--oidc-service-account-email=$(address "$CALLER")"
    "--oidc-token-audience=$URL"
  )
}
