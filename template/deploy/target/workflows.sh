# shellcheck shell=bash
# A workflow of this project's own, from workflow.yaml. It runs as an account of its own, and keeps
# its records in a Firestore database of its own.

source deploy/firestore.sh

WORKFLOW_ACCOUNT=$(fitted workflow 30)
WORKFLOW_DATABASE=${WORKFLOW_DATABASE:-$(fitted workflow 63)}
TARGET=projects/$GOOGLE_CLOUD_PROJECT/locations/$REGION/workflows/$SERVICE

need_apis workflowexecutions workflows

target_setup() {
  local role
  account "$WORKFLOW_ACCOUNT" "the workflow runs as this account"
  expiring_records "$WORKFLOW_ACCOUNT" "$WORKFLOW_DATABASE" workflow_runs expire_at
  grant "$WORKFLOW_ACCOUNT" roles/logging.logWriter \
    gcloud projects add-iam-policy-binding "$GOOGLE_CLOUD_PROJECT" --condition=None
  # To start executions and to find them: on the project, as a workflow has no roles of its own.
  for role in roles/workflows.invoker roles/workflows.viewer; do
    grant "$RUNNER" "$role" \
      gcloud projects add-iam-policy-binding "$GOOGLE_CLOUD_PROJECT" --condition=None
  done
}

target_check() {
  if [[ ! $STEP_URL =~ ^https://[^/[:space:]]+ ]]; then
    stop "STEP_URL is '$STEP_URL', which the workflow could not call." \
      "Set it in deploy/config.sh to the https:// URL of the step."
  fi
  step_root=${BASH_REMATCH[0]}
}

target_deploy() {
  local variables=(
    "STEP_URL=$STEP_URL"
    "STEP_AUDIENCE=${STEP_AUDIENCE:-$step_root}"
    "DATABASE=$WORKFLOW_DATABASE"
  )
  step "deploy the workflow $SERVICE" "You need roles/workflows.admin, and\
 roles/iam.serviceAccountUser on $(address "$WORKFLOW_ACCOUNT"). Is everything set up? make setup" \
    gcloud workflows deploy "$SERVICE" "--location=$REGION" --source=workflow.yaml \
    "--service-account=$(address "$WORKFLOW_ACCOUNT")" \
    "--set-env-vars=^|^$(join '|' "${variables[@]}")"
  say "- the step's owner lets the workflow in: roles/run.invoker for $(address "$WORKFLOW_ACCOUNT")"
}
