#!/usr/bin/env bash
# A gcloud that notes how it is called, in the file CALLS, and finds that nothing is there yet. A
# call is one record: the arguments, then what came by the standard input.
words=
for argument; do
  if [[ $argument != --* ]]; then words+="$argument "; fi
done
given=
if [[ "$*" == *--data-file=-* ]]; then IFS= read -r -d '' given; fi
(
  IFS=$'\x1f'
  printf '%s\x1f\x1f%s\x1e' "$*" "$given"
) >>"$CALLS"

case $words in
  *" describe "*)
    if [[ "$*" == *--format=none* ]]; then
      echo "NOT_FOUND: it is not there" >&2
      exit 1
    fi
    ;;
esac
# What scripts read.
case "$words" in
  "projects describe "*) echo 123456789012 ;;
  "run services describe "*) echo "https://$SERVICE-123456789012.us-central1.run.app" ;;
  "firestore indexes fields describe "*) echo True ;;
  "redis instances get-auth-string "*) echo a-password ;;
  "redis instances describe "*)
    if [[ "$*" == *host* ]]; then echo 10.0.0.3:6378; else echo "a certificate"; fi
    ;;
esac
