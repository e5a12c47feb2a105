# shellcheck shell=bash
# The Cloud Scheduler job, which calls the service at $URL.

# The job's address and headers tell its project and region as JOB_SCOPE wants it (R05).
job_scope() {
  job_uri=$URL/
  job_headers=()
  case $JOB_SCOPE in
    none) ;;
    header)
      job_headers=("X-Job-Project=$GOOGLE_CLOUD_PROJECT" "X-Job-Location=$REGION")
      ;;
    query) job_uri+="?project=$GOOGLE_CLOUD_PROJECT&location=$REGION" ;;
    path) job_uri+="projects/$GOOGLE_CLOUD_PROJECT/locations/$REGION" ;;
    *) stop "JOB_SCOPE is '$JOB_SCOPE'." "It can be none, header, query or path." ;;
  esac
}

# Five retries, whose back-offs together are longer than the lease of an attempt that crashed (R31).
retries() {
  local min_backoff=$(((LEASE_SECONDS + 60 + 30) / 31))
  job_retries=(
    --max-retry-attempts=5
    "--min-backoff=$((min_backoff > 5 ? min_backoff : 5))s"
    --max-backoff=3600s
    --max-doublings=5
  )
}

job_deploy() {
  local job_uri job_headers job_retries flags remedy
  job_scope
  retries
  flags=(
    "--location=$REGION"
    "--schedule=$SCHEDULE"
    "--time-zone=$TIME_ZONE"
    "--uri=$job_uri"
    --http-method=post
    "--oidc-service-account-email=$(address "$CALLER")"
    "--oidc-token-audience=$URL"
    "--attempt-deadline=${ATTEMPT_DEADLINE_SECONDS}s"
    "${job_retries[@]}"
  )
  remedy="You need roles/cloudscheduler.admin, and roles/iam.serviceAccountUser on\
 $(address "$CALLER")."
  if exists gcloud scheduler jobs describe "$JOB_ID" "--location=$REGION"; then
    # Headers that the owner has added stay; those of another scope go.
    if ((${#job_headers[@]})); then
      flags+=("--update-headers=$(join , "${job_headers[@]}")")
    else
      flags+=("--remove-headers=X-Job-Project,X-Job-Location")
    fi
    step "update the job $JOB_ID" "$remedy" gcloud scheduler jobs update http "$JOB_ID" "${flags[@]}"
  else
    if ((${#job_headers[@]})); then flags+=("--headers=$(join , "${job_headers[@]}")"); fi
    step "create the job $JOB_ID" "$remedy" gcloud scheduler jobs create http "$JOB_ID" "${flags[@]}"
  fi
}
