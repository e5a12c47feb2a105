# shellcheck shell=bash
# A Firestore database for records that expire.

FIRESTORE_LOCATION=${FIRESTORE_LOCATION:-$REGION} # Or nam5, eur3: several regions.

need_apis firestore

# expiring_records ACCOUNT DATABASE COLLECTION FIELD...: a database in which COLLECTION has no index
# on each FIELD, records go after their expire_at, and ACCOUNT may read and write.
expiring_records() {
  local account=$1 database=$2 collection=$3 field
  shift 3
  if exists gcloud firestore databases describe "--database=$database"; then
    say "- the Firestore database $database is there"
  else
    step "create the Firestore database $database" \
      "You need roles/datastore.owner. Is Firestore in $FIRESTORE_LOCATION? FIRESTORE_LOCATION\
 says another place." \
      gcloud firestore databases create "--database=$database" "--location=$FIRESTORE_LOCATION" \
      --type=firestore-native --delete-protection
  fi
  for field; do unindex "$field"; done
  expire
  grant "$account" roles/datastore.user \
    gcloud projects add-iam-policy-binding "$GOOGLE_CLOUD_PROJECT" "--condition=^|^title=$database\
|expression=resource.name == \"projects/$GOOGLE_CLOUD_PROJECT/databases/$database\""
}

# unindex FIELD: all records would be indexed at one place, as the field rises with time.
unindex() {
  local field=("$1" "--collection-group=$collection" "--database=$database") inherited
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
  there=$(gcloud firestore fields ttls list "--collection-group=$collection" \
    "--database=$database" --format='value(name)') ||
    stop "could not read the TTL policies." "You need roles/datastore.indexAdmin."
  if [[ $there == */fields/expire_at* ]]; then
    say "- records are deleted after their expire_at"
  else
    step "have records deleted after their expire_at (it takes effect within minutes)" \
      "You need roles/datastore.indexAdmin." \
      gcloud firestore fields ttls update expire_at "--collection-group=$collection" \
      "--database=$database" --enable-ttl --async
  fi
}
