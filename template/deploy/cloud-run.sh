# shellcheck shell=bash
# The service on Cloud Run, built from this folder.

BUILDER=$(fitted builder 30) # Cloud Build builds as this account.

need_apis run

# How the service reaches a private network, and where files come to that are secrets.
NETWORK_BY=direct
SECRETS_FOLDER=/secrets/runs

cloud_run_setup() {
  account "$BUILDER" "Cloud Build builds as this account"
  # Without a builder of its own the build would run as the project's default account, which has
  # either far too many roles or none.
  grant "$BUILDER" roles/run.builder \
    gcloud projects add-iam-policy-binding "$GOOGLE_CLOUD_PROJECT" --condition=None
  if exists gcloud artifacts repositories describe cloud-run-source-deploy "--location=$REGION"; then
    say "- the image repository cloud-run-source-deploy is there"
  else
    step "create the image repository cloud-run-source-deploy" \
      "You need roles/artifactregistry.admin." \
      gcloud artifacts repositories create cloud-run-source-deploy "--location=$REGION" \
      --repository-format=docker
  fi
}

# Cloud Run derives this address from names that are known before the first deployment, so that
# the service and the job can be told it.
cloud_run_url() {
  local number
  number=$(gcloud projects describe "$GOOGLE_CLOUD_PROJECT" --format='value(projectNumber)') ||
    stop "could not read the number of the project $GOOGLE_CLOUD_PROJECT." \
      "Is the name right, and are you logged in? gcloud auth login"
  URL=https://$SERVICE-$number.$REGION.run.app
}

cloud_run_deploy() {
  cloud_run_url
  service_environment
  environment+=("GOOGLE_CLOUD_PROJECT=$GOOGLE_CLOUD_PROJECT")
  # A lease is renewed in the background, also when a request has timed out: hence the CPU.
  local flags=(
    "--region=$REGION"
    "--service-account=$(address "$RUNNER")"
    "--build-service-account=projects/$GOOGLE_CLOUD_PROJECT/serviceAccounts/$(address "$BUILDER")"
    "--timeout=${ATTEMPT_DEADLINE_SECONDS}s"
    --concurrency=80
    "--max-instances=$MAX_INSTANCES"
    "--cpu=$CPU"
    "--memory=$MEMORY"
    --no-cpu-throttling
    --ingress=all
    --no-allow-unauthenticated
    "${platform_flags[@]}"
  )
  if $platform_checks_caller; then
    flags+=(--invoker-iam-check)
  else
    flags+=(--no-invoker-iam-check)
  fi
  store_deploy
  if ((${#secrets[@]})); then
    flags+=("--update-secrets=$(join , "${secrets[@]/%/:latest}")")
  fi
  # Variables that the owner has added stay.
  flags+=("--update-env-vars=^|^$(join '|' "${environment[@]}")")
  step "build and deploy the service $SERVICE, which takes some minutes" \
    "You need roles/run.admin, roles/run.sourceDeveloper, and roles/iam.serviceAccountUser on\
 $(address "$RUNNER") and $(address "$BUILDER"). Is everything set up? make setup" \
    gcloud run deploy "$SERVICE" "${flags[@]}"
  cloud_run_check_url
}

cloud_run_check_url() {
  local addresses
  addresses=$(gcloud run services describe "$SERVICE" "--region=$REGION" \
    --format='value(status.url,metadata.annotations)') ||
    stop "could not read the addresses of $SERVICE." "You need roles/run.viewer."
  if [[ $addresses != *"$URL"* ]]; then
    stop "$SERVICE does not answer at $URL." \
      "Switch its default address (run.app) on: gcloud run services update $SERVICE\
 --region=$REGION --default-url. Then run this again."
  fi
}
