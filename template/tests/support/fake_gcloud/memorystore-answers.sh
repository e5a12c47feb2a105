# shellcheck shell=bash disable=SC2154
case $words in
  "redis instances get-auth-string "*) echo a-password ;;
  "redis instances describe "*)
    if [[ "$*" == *host* ]]; then echo 10.0.0.3:6378; else echo "a certificate"; fi
    ;;
esac
