# shellcheck shell=bash
# Cloud Run checks the caller: only these accounts may call the service (R33).

source deploy/token.sh

platform_checks_caller=true

auth_deploy() {
  local caller
  for caller in "${allowed[@]}"; do
    grant "$caller" roles/run.invoker \
      gcloud run services add-iam-policy-binding "$SERVICE" "--region=$REGION" --condition=None
  done
}
