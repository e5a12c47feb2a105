# shellcheck shell=bash
# The Cloud Scheduler job, which calls the service at $URL.

CALLER=$(fitted caller 30) # The job sends this account's token.
allowed=("$(address "$CALLER")")
job_flags=(--http-method=post)

need_apis cloudscheduler

# The project's own code derives the job's retries from these.
PYTHON=${PYTHON:-.venv/bin/python}
export SERVICE JOB_ID SCHEDULE TIME_ZONE ATTEMPT_DEADLINE_SECONDS LEASE_SECONDS
if ! command -v "$PYTHON" >/dev/null; then
  stop "there is no $PYTHON." "Install the project: make install"
fi

job_setup() { account "$CALLER" "the Cloud Scheduler job sends its token"; }

job_check() {
  retries
  job_scope
}

job_service() {
  environment+=("JOB_ID=$JOB_ID" "SCHEDULE=$SCHEDULE" "TIME_ZONE=$TIME_ZONE")
}

# How the job tells its project and region, as JOB_SCOPE wants it: job_path, below the service's
# root, and job_headers (R05).
job_scope() {
  job_path=/
  job_headers=()
  case $JOB_SCOPE in
    none) ;;
    header) job_headers=("X-Job-Project=$GOOGLE_CLOUD_PROJECT" "X-Job-Location=$REGION") ;;
    query) job_path="/?project=$GOOGLE_CLOUD_PROJECT&location=$REGION" ;;
    path) job_path=/projects/$GOOGLE_CLOUD_PROJECT/locations/$REGION ;;
    *) stop "JOB_SCOPE is '$JOB_SCOPE'." "It can be none, header, query or path." ;;
  esac
}

# The retries follow from schedule, deadline and lease, so that a crash loses no run (R31).
retries() {
  local printed
  printed=$("$PYTHON" -m dev.budget --flags) ||
    stop "there are no retries by which the job outlasts a crash." \
      "Change what the line above says, in deploy/config.sh or by copier update."
  read -ra job_retries <<<"$printed"
}

job_deploy() {
  local flags remedy
  flags=(
    "--location=$REGION"
    "--schedule=$SCHEDULE"
    "--time-zone=$TIME_ZONE"
    "--uri=$URL$job_path"
    "--oidc-service-account-email=$(address "$CALLER")"
    "--oidc-token-audience=$URL"
    "--attempt-deadline=${ATTEMPT_DEADLINE_SECONDS}s"
    "${job_retries[@]}"
    "${job_flags[@]}"
  )
  remedy="You need roles/cloudscheduler.admin, and roles/iam.serviceAccountUser on\
 $(address "$CALLER")."
  if exists gcloud scheduler jobs describe "$JOB_ID" "--location=$REGION"; then
    # Headers that the owner has added stay; those of another scope go.
    if [[ $JOB_SCOPE != header && $(gcloud scheduler jobs describe "$JOB_ID" "--location=$REGION" \
      --format='value(httpTarget.headers)') == *X-Job-* ]]; then
      step "take the headers of another scope from the job $JOB_ID" "$remedy" \
        gcloud scheduler jobs update http "$JOB_ID" "--location=$REGION" \
        --remove-headers=X-Job-Project,X-Job-Location
    fi
    if ((${#job_headers[@]})); then flags+=("--update-headers=$(join , "${job_headers[@]}")"); fi
    step "update the job $JOB_ID" "$remedy" gcloud scheduler jobs update http "$JOB_ID" "${flags[@]}"
  else
    if ((${#job_headers[@]})); then flags+=("--headers=$(join , "${job_headers[@]}")"); fi
    step "create the job $JOB_ID" "$remedy" gcloud scheduler jobs create http "$JOB_ID" "${flags[@]}"
  fi
  say "A run at once: gcloud scheduler jobs run $JOB_ID --location=$REGION" \
    "--project=$GOOGLE_CLOUD_PROJECT"
}
