#!/usr/bin/env bash
# A gcloud that notes how it is called, in the file CALLS, and finds that nothing is there yet. A
# call is one record: the arguments, then what came by the standard input. FAILING is a command that
# fails; STORES is the folder of what the stores' commands answer.
words=
region=
for argument; do
  if [[ $argument != --* ]]; then words+="$argument "; fi
  if [[ $argument == --region=* ]]; then region=${argument#*=}; fi
done
given=
if [[ "$*" == *--data-file=-* ]]; then IFS= read -r -d '' given; fi
(
  IFS=$'\x1f'
  printf '%s\x1f\x1f%s\x1e' "$*" "$given"
) >>"$CALLS"

if [[ -n ${FAILING:-} && $words == "$FAILING "* ]]; then
  echo "PERMISSION_DENIED: you may not" >&2
  exit 1
fi
case $words in
  *" describe "*)
    if [[ "$*" == *--format=none* ]]; then
      echo "NOT_FOUND: it is not there" >&2
      exit 1
    fi
    ;;
esac
# What the scripts read; each store adds its own.
case $words in
  "projects describe "*) echo 123456789012 ;;
  "run services describe "*) echo "https://$SERVICE-123456789012.$region.run.app" ;;
esac
for store in "$STORES"/*-answers.sh; do
  # shellcheck disable=SC1090
  if [[ -f $store ]]; then source "$store"; fi
done
