# shellcheck shell=bash disable=SC2154
case $words in
  "firestore indexes fields describe "*) echo True ;;
esac
