# shellcheck shell=bash
# Jobs of BigQuery, in a project and a location.

named_target projects/PROJECT/locations/LOCATION
need_apis bigquery

target_setup() {
  grant "$RUNNER" roles/bigquery.jobUser \
    gcloud projects add-iam-policy-binding "$target_project" --condition=None
  say "- whose data the jobs read and write lets $(address "$RUNNER") do so"
}
