# shellcheck shell=bash
# The names that follow from those in config.sh.

# fitted PURPOSE LIMIT: SERVICE-PURPOSE; a digest takes the place of the end of a service's name
# that is too long for it.
fitted() {
  local name=$SERVICE-$1 digest
  if ((${#name} > $2)); then
    digest=$(python3 -c 'import hashlib, sys
print(hashlib.sha256(sys.argv[1].encode()).hexdigest()[:6])' "$SERVICE")
    name=${SERVICE:0:$(($2 - ${#1} - 8))}-$digest-$1
  fi
  printf '%s' "$name"
}

# address ACCOUNT: a domain-scoped project (example.com:project) is written the other way round.
address() {
  local place=$GOOGLE_CLOUD_PROJECT
  if [[ $place == *:* ]]; then place=${place#*:}.${place%%:*}; fi
  printf '%s@%s.iam.gserviceaccount.com' "$1" "$place"
}

RUNNER=$(fitted runner 30)   # The service runs as this account.
CALLER=$(fitted caller 30)   # The job sends this account's token.
BUILDER=$(fitted builder 30) # Cloud Build builds as this account.
