#!/usr/bin/env bash
# A gcloud that notes how it is called, in the file CALLS, and finds that nothing is there yet. A
# call is one record: the arguments, then what came by the standard input or in a file. FAILING is a
# command that fails, THERE one that finds something; PARTS is the folder of what the chosen parts'
# commands answer.
words=
for argument; do
  if [[ $argument != --* ]]; then words+="$argument "; fi
done
given=
if [[ "$*" == *--data-file=-* ]]; then IFS= read -r -d '' given; fi
if [[ -f ${*: -1} ]]; then given=$(<"${*: -1}"); fi
(
  IFS=$'\x1f'
  printf '%s\x1f\x1f%s\x1e' "$*" "$given"
) >>"$CALLS"

if [[ -n ${FAILING:-} && $words == "$FAILING "* ]]; then
  echo "PERMISSION_DENIED: you may not" >&2
  exit 1
fi
case $words in
  "${THERE:-nothing} "*) ;;
  *" describe "*)
    if [[ "$*" == *--format=none* ]]; then
      echo "NOT_FOUND: it is not there" >&2
      exit 1
    fi
    ;;
esac
# What the scripts read; each part adds its own.
for part in "$PARTS"/*-answers.sh; do
  # shellcheck disable=SC1090
  if [[ -f $part ]]; then source "$part"; fi
done
