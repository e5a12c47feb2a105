# shellcheck shell=bash
# The records in a Firestore database of their own.

source deploy/firestore.sh

COLLECTION=scheduler_runs
DATABASE=${FIRESTORE_DATABASE:-$(fitted runs 63)}

store_setup() {
  expiring_records "$RUNNER" "$DATABASE" "$COLLECTION" expire_at lease_expires
}

store_deploy() {
  environment+=(
    "RUN_STORE_URL=firestore://$GOOGLE_CLOUD_PROJECT/$DATABASE?collection=$COLLECTION"
  )
}
