# shellcheck shell=bash
# The Cloud Scheduler job, which calls the service. For each type of job, a file in deploy/job has
# `allowed`, the account whose token it sends, `job_field`, where the job says what it calls,
# `job_setup`, and `job_target`, which adds to `job_flags`.

job_flags=(--http-method=post)

need_apis cloudscheduler

# The project's own code derives the job's retries from these.
PYTHON=${PYTHON:-.venv/bin/python}
export SERVICE JOB_ID SCHEDULE TIME_ZONE ATTEMPT_DEADLINE_SECONDS LEASE_SECONDS
if ! command -v "$PYTHON" >/dev/null; then
  stop "there is no $PYTHON." "Install the project: make install"
fi

# shellcheck disable=SC1090 # One is there.
source "deploy/job/$JOB_TYPE.sh"

job_check() {
  retries
  job_scope
}

job_environment() {
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

# All headers that the job gets, because an update replaces them as a whole: those that its owner
# has added stay, and those of another scope go.
all_headers() {
  gcloud scheduler jobs describe "$JOB_ID" "--location=$REGION" --format=json |
    python3 -c 'import json, sys
kept = json.load(sys.stdin).get(sys.argv[1], {}).get("headers", {})
ours = dict(pair.split("=", 1) for pair in sys.argv[2:])
replaced = {"user-agent", "x-job-project", "x-job-location", *map(str.lower, ours)}
kept = {name: value for name, value in kept.items() if name.lower() not in replaced}
print(";;".join(f"{name}={value}" for name, value in {**kept, **ours}.items()))' \
      "$job_field" ${job_headers[@]+"${job_headers[@]}"}
}

job_deploy() {
  local flags remedy all
  job_target
  flags=(
    "--location=$REGION"
    "--schedule=$SCHEDULE"
    "--time-zone=$TIME_ZONE"
    "--attempt-deadline=${ATTEMPT_DEADLINE_SECONDS}s"
    "${job_retries[@]}"
    "${job_flags[@]}"
  )
  remedy="You need roles/cloudscheduler.admin, and roles/iam.serviceAccountUser on the job's\
 account, where it has one."
  if exists gcloud scheduler jobs describe "$JOB_ID" "--location=$REGION"; then
    all=$(all_headers) || stop "could not read the headers of the job $JOB_ID." "$remedy"
    if [[ $all ]]; then flags+=("--update-headers=^;;^$all"); else flags+=(--clear-headers); fi
    step "update the job $JOB_ID" "$remedy" \
      gcloud scheduler jobs update "$JOB_TYPE" "$JOB_ID" "${flags[@]}"
  else
    if ((${#job_headers[@]})); then flags+=("--headers=$(join , "${job_headers[@]}")"); fi
    step "create the job $JOB_ID" "$remedy" \
      gcloud scheduler jobs create "$JOB_TYPE" "$JOB_ID" "${flags[@]}"
  fi
  say "A run at once: gcloud scheduler jobs run $JOB_ID --location=$REGION" \
    "--project=$GOOGLE_CLOUD_PROJECT"
}
