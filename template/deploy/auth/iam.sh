# shellcheck shell=bash
# Cloud Run checks the caller: only the job's account may call the service (R33).

source deploy/http-target.sh

platform_checks_caller=true

auth_deploy() {
  grant "$CALLER" roles/run.invoker \
    gcloud run services add-iam-policy-binding "$SERVICE" "--region=$REGION"
}
