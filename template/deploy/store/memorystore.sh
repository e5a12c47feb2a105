# shellcheck shell=bash
# The records in a Memorystore for Redis instance. Only Secret Manager and the service know its
# password.

INSTANCE=${REDIS_INSTANCE:-$(fitted runs 40)}
NETWORK=${NETWORK:-default}
CA_FILE=$SECRETS_FOLDER/ca.pem

# shellcheck disable=SC1090 # One is there.
source "deploy/network/$NETWORK_BY.sh"

need_apis redis secretmanager

store_setup() {
  network_setup
  local instance=("$INSTANCE" "--region=$REGION")
  if exists gcloud redis instances describe "${instance[@]}"; then
    say "- the Redis instance $INSTANCE is there"
  else
    # Eviction would forget runs, so a full instance has to refuse instead.
    step "create the Redis instance $INSTANCE, which takes some minutes" \
      "You need roles/redis.admin. Is there a network $NETWORK? NETWORK says another one." \
      gcloud redis instances create "${instance[@]}" --tier=standard --size=1 \
      --redis-version=redis_7_2 --redis-config=maxmemory-policy=noeviction --enable-auth \
      --transit-encryption-mode=server-authentication "--network=$NETWORK"
  fi
  keep_secret "$SERVICE-run-store-url" store_url
  keep_secret "$SERVICE-run-store-ca" store_ca
}

store_deploy() {
  secrets+=("RUN_STORE_URL=$SERVICE-run-store-url" "$CA_FILE=$SERVICE-run-store-ca")
  network_deploy
}

# The instance's certificates come from an authority of its own, which is all that is trusted. The
# name in them is not the instance's address.
store_url() {
  local place password
  place=$(gcloud redis instances describe "$INSTANCE" "--region=$REGION" \
    --format='value[separator=":"](host,port)') &&
    password=$(gcloud redis instances get-auth-string "$INSTANCE" "--region=$REGION" \
      --format='value(authString)') &&
    # An instance that is being created has no address yet.
    [[ $place == ?*:?* && $password ]] &&
    printf 'rediss://:%s@%s?ssl_ca_certs=%s&ssl_check_hostname=false' \
      "$password" "$place" "$CA_FILE"
}

store_ca() {
  local authorities
  authorities=$(gcloud redis instances describe "$INSTANCE" "--region=$REGION" \
    --flatten='serverCaCerts[]' --format='value(serverCaCerts.cert)') &&
    [[ $authorities ]] && printf '%s' "$authorities"
}

# keep_secret NAME COMMAND: the secret's newest version is what COMMAND prints; the service reads it.
keep_secret() {
  local value remedy="You need roles/secretmanager.admin."
  value=$("$2") || stop "could not read what the secret $1 has to hold." "You need\
 roles/redis.admin, and the instance has to be ready: gcloud redis instances list\
 --region=$REGION"
  if exists gcloud secrets describe "$1"; then
    say "- the secret $1 is there"
  else
    step "create the secret $1" "$remedy" \
      gcloud secrets create "$1" --replication-policy=automatic
  fi
  if [[ $(gcloud secrets versions access latest "--secret=$1" 2>/dev/null) != "$value" ]]; then
    step "write a new version of the secret $1" "$remedy" add_version "$1" "$value"
  fi
  grant "$RUNNER" roles/secretmanager.secretAccessor \
    gcloud secrets add-iam-policy-binding "$1" --condition=None
}

# The value goes by a pipe, so that no list of processes shows it.
add_version() { printf '%s' "$2" | gcloud secrets versions add "$1" --data-file=-; }
