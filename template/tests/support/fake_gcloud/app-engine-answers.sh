# shellcheck shell=bash disable=SC2154
case "$words$*" in
  "app describe "*locationId*) echo "${APP_PLACE:-us-central}" ;;
  "app describe "*defaultHostname*) echo my-project.uc.r.appspot.com ;;
  "app describe "*codeBucket*) echo staging.my-project.appspot.com ;;
esac
