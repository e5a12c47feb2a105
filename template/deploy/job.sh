# shellcheck shell=bash
# The Cloud Scheduler job, which calls the service.

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
  auth_target
  flags=(
    "--location=$REGION"
    "--schedule=$SCHEDULE"
    "--time-zone=$TIME_ZONE"
    "${job_target[@]}"
    --http-method=post
    "--attempt-deadline=${ATTEMPT_DEADLINE_SECONDS}s"
    "${job_retries[@]}"
  )
  remedy="You need roles/cloudscheduler.admin, and roles/iam.serviceAccountUser on the job's\
 account, where it has one."
  if exists gcloud scheduler jobs describe "$JOB_ID" "--location=$REGION"; then
    # Headers that the owner has added stay; those of another scope go.
    if ((${#job_headers[@]})); then
      flags+=("--update-headers=$(join , "${job_headers[@]}")")
    elif [[ $(gcloud scheduler jobs describe "$JOB_ID" "--location=$REGION" \
      --format="value($job_field.headers)") == *X-Job-* ]]; then
      flags+=("--remove-headers=X-Job-Project,X-Job-Location")
    fi
    step "update the job $JOB_ID" "$remedy" \
      gcloud scheduler jobs update "$job_type" "$JOB_ID" "${flags[@]}"
  else
    if ((${#job_headers[@]})); then flags+=("--headers=$(join , "${job_headers[@]}")"); fi
    step "create the job $JOB_ID" "$remedy" \
      gcloud scheduler jobs create "$job_type" "$JOB_ID" "${flags[@]}"
  fi
}
