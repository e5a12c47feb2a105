# shellcheck shell=bash
# The records in a Spanner database. Several services can share an instance: SPANNER_INSTANCE.

INSTANCE=${SPANNER_INSTANCE:-$(fitted runs 64)}
DATABASE=${SPANNER_DATABASE:-runs}
TABLE=scheduler_runs

need_apis spanner

store_setup() {
  local remedy="You need roles/spanner.admin."
  if exists gcloud spanner instances describe "$INSTANCE"; then
    say "- the Spanner instance $INSTANCE is there"
  else
    step "create the Spanner instance $INSTANCE, the smallest there is" "$remedy" \
      gcloud spanner instances create "$INSTANCE" "--config=regional-$REGION" --edition=STANDARD \
      --processing-units=100 "--description=$(fitted runs 30)"
  fi
  local schema=--ddl-file=app/dedup/stores/spanner.sql
  if exists gcloud spanner databases describe "$DATABASE" "--instance=$INSTANCE"; then
    step "create what is missing of the tables in $DATABASE" "$remedy" \
      gcloud spanner databases ddl update "$DATABASE" "--instance=$INSTANCE" "$schema"
  else
    step "create the database $DATABASE with its tables" "$remedy" \
      gcloud spanner databases create "$DATABASE" "--instance=$INSTANCE" "$schema"
  fi
  step "protect the database $DATABASE from deletion" "$remedy" \
    gcloud spanner databases update "$DATABASE" "--instance=$INSTANCE" --enable-drop-protection
  grant "$RUNNER" roles/spanner.databaseUser \
    gcloud spanner databases add-iam-policy-binding "$DATABASE" "--instance=$INSTANCE" --condition=None
}

store_deploy() {
  environment+=(
    "RUN_STORE_URL=spanner://$GOOGLE_CLOUD_PROJECT/$INSTANCE/$DATABASE?table=$TABLE"
  )
}
