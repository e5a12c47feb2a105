# shellcheck shell=bash
# Cloud Run checks the caller: only these accounts may call the service (R33).

auth_flags=(--no-allow-unauthenticated --invoker-iam-check)

auth_deploy() {
  local caller
  for caller in "${allowed[@]}"; do
    grant "$caller" roles/run.invoker \
      gcloud run services add-iam-policy-binding "$SERVICE" "--region=$REGION"
  done
}
