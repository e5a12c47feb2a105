# shellcheck shell=bash
# A Cloud Run job, which is there already.

named_target projects/PROJECT/locations/LOCATION/jobs/JOB

target_setup() {
  local role
  # To start an execution with the token as an override, and to find it.
  for role in roles/run.jobsExecutorWithOverrides roles/run.viewer; do
    grant "$RUNNER" "$role" gcloud run jobs add-iam-policy-binding "$target_name" \
      "--region=$target_location" "--project=$target_project"
  done
}
