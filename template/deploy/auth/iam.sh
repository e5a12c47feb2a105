# shellcheck shell=bash
# Cloud Run checks the caller: only the job's account may call the service (R33).

auth_flags=(--no-allow-unauthenticated --invoker-iam-check)

auth_deploy() {
  grant "$CALLER" roles/run.invoker \
    gcloud run services add-iam-policy-binding "$SERVICE" "--region=$REGION"
}
