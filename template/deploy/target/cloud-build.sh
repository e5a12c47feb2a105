# shellcheck shell=bash
# A Cloud Build trigger, which is there already. Its builds act as TARGET_ACCOUNT.

named_target projects/PROJECT/locations/LOCATION/triggers/TRIGGER

target_setup() {
  # To start builds and to find them.
  grant "$RUNNER" roles/cloudbuild.builds.editor \
    gcloud projects add-iam-policy-binding "$target_project" --condition=None
  let_act_as
}
