# shellcheck shell=bash
# The names that follow from those in config.sh.

# In place of the end of a service's name that is too long. The others need none.
if ((${#SERVICE} > 21)); then
  DIGEST=$(python3 -c 'import hashlib, sys
print(hashlib.sha256(sys.argv[1].encode()).hexdigest()[:6])' "$SERVICE")
fi

# fitted PURPOSE LIMIT: SERVICE-PURPOSE, in as many characters as there may be.
fitted() {
  local name=$SERVICE-$1
  if ((${#name} > $2)); then name=${SERVICE:0:$(($2 - ${#1} - 8))}-$DIGEST-$1; fi
  printf '%s' "$name"
}

# address ACCOUNT: of an account of this project; what is an address already stays as it is. A
# domain-scoped project (example.com:project) is written the other way round.
address() {
  if [[ $1 == *@* ]]; then
    printf '%s' "$1"
    return
  fi
  local place=$GOOGLE_CLOUD_PROJECT
  if [[ $place == *:* ]]; then place=${place#*:}.${place%%:*}; fi
  printf '%s@%s.iam.gserviceaccount.com' "$1" "$place"
}

RUNNER=$(fitted runner 30) # The service runs as this account.
