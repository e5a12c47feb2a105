# shellcheck shell=bash
# How a step is done: it says what it does, finds out what is there, and stops with the remedy.

say() { printf '%s\n' "$*"; }

# join SEPARATOR WORD...
join() {
  local IFS=$1
  shift
  printf '%s' "$*"
}

# stop WHAT REMEDY
stop() {
  printf '\nStopped: %s\n%s\n' "$1" "$2" >&2
  exit 1
}

# step WHAT REMEDY COMMAND...: do COMMAND, whose results are not shown.
step() {
  local what=$1 remedy=$2
  shift 2
  say "- $what"
  "$@" >/dev/null || stop "could not $what." "$remedy Then run this again: what is done stays."
}

# exists COMMAND...: whether there is what COMMAND describes. Stops where nobody can tell.
exists() {
  local said
  if said=$("$@" --format=none 2>&1); then return 0; fi
  case $said in *NOT_FOUND* | *"Cannot find"* | *"does not contain"*) return 1 ;; esac
  printf '%s\n' "$said" >&2
  stop "could not look at what is there." \
    "Your account needs to see it: roles/viewer on $GOOGLE_CLOUD_PROJECT does."
}

# need_apis NAME...: have setup enable these too, each once.
need_apis() {
  local api
  for api; do
    if [[ " ${apis[*]} " != *" $api "* ]]; then apis+=("$api"); fi
  done
}

# account ID MEANING: create a service account, unless it is there.
account() {
  if exists gcloud iam service-accounts describe "$(address "$1")"; then
    say "- account $1 is there"
  else
    step "create the account $1" "You need roles/iam.serviceAccountAdmin." \
      gcloud iam service-accounts create "$1" --display-name="$SERVICE: $2"
  fi
}

# grant ACCOUNT ROLE COMMAND...: give a role to an account of this project, or an address, by one of
# gcloud's add-iam-policy-binding commands. A new account is not known everywhere at once, so one
# that "does not exist" gets a minute.
grant() {
  local account=$1 role=$2 said waits=0
  shift 2
  say "- give $role to $account"
  until said=$("$@" --member="serviceAccount:$(address "$account")" --role="$role" \
    --format=none 2>&1); do
    if [[ $said != *"does not exist"* || $waits -ge 12 ]]; then
      printf '%s\n' "$said" >&2
      stop "could not give $role to $account." "You need to be allowed to set IAM policies:\
 roles/resourcemanager.projectIamAdmin, and the owner's or administrator's role of the resource.\
 Then run this again: what is done stays."
    fi
    waits=$((waits + 1))
    sleep 5
  done
}
