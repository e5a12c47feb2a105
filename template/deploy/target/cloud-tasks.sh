# shellcheck shell=bash
# A queue of Cloud Tasks, which is there already. Its tasks act as TARGET_ACCOUNT.

named_target projects/PROJECT/locations/LOCATION/queues/QUEUE
need_apis cloudtasks

target_setup() {
  grant "$RUNNER" roles/cloudtasks.enqueuer gcloud tasks queues add-iam-policy-binding \
    "$target_name" "--location=$target_location" "--project=$target_project"
  let_act_as
}
