# shellcheck shell=bash
# The records in a Firestore database of their own.

COLLECTION=scheduler_runs
DATABASE=${FIRESTORE_DATABASE:-$(fitted runs 63)}
FIRESTORE_LOCATION=${FIRESTORE_LOCATION:-$REGION} # Or nam5, eur3: several regions.

store_apis=(firestore)

store_setup() {
  if exists gcloud firestore databases describe "--database=$DATABASE"; then
    say "- the Firestore database $DATABASE is there"
  else
    step "create the Firestore database $DATABASE" \
      "You need roles/datastore.owner. Is Firestore in $FIRESTORE_LOCATION? FIRESTORE_LOCATION\
 says another place." \
      gcloud firestore databases create "--database=$DATABASE" "--location=$FIRESTORE_LOCATION" \
      --type=firestore-native --delete-protection
  fi
  unindex expire_at
  unindex lease_expires
  expire
  grant "$RUNNER" roles/datastore.user \
    gcloud projects add-iam-policy-binding "$GOOGLE_CLOUD_PROJECT" "--condition=^|^title=$DATABASE\
|expression=resource.name == \"projects/$GOOGLE_CLOUD_PROJECT/databases/$DATABASE\""
}

store_deploy() {
  environment+=(
    "RUN_STORE_URL=firestore://$GOOGLE_CLOUD_PROJECT/$DATABASE?collection=$COLLECTION"
  )
}

# unindex FIELD: all records would be indexed at one place, as the field rises with time.
unindex() {
  local field=("$1" "--collection-group=$COLLECTION" "--database=$DATABASE") inherited
  inherited=$(gcloud firestore indexes fields describe "${field[@]}" \
    --format='value(indexConfig.usesAncestorConfig)') ||
    stop "could not read the indexes of $1." "You need roles/datastore.indexAdmin."
  if [[ $inherited == True ]]; then
    step "switch the index of $1 off" "You need roles/datastore.indexAdmin." \
      gcloud firestore indexes fields update "${field[@]}" --disable-indexes
  else
    say "- $1 has no index"
  fi
}

# Firestore deletes a record some time after its expire_at (R29).
expire() {
  local there
  there=$(gcloud firestore fields ttls list "--collection-group=$COLLECTION" \
    "--database=$DATABASE" --format='value(name)') ||
    stop "could not read the TTL policies." "You need roles/datastore.indexAdmin."
  if [[ $there == */fields/expire_at* ]]; then
    say "- records are deleted after their expire_at"
  else
    step "have records deleted after their expire_at (it takes effect within minutes)" \
      "You need roles/datastore.indexAdmin." \
      gcloud firestore fields ttls update expire_at "--collection-group=$COLLECTION" \
      "--database=$DATABASE" --enable-ttl --async
  fi
}
