# shellcheck shell=bash disable=SC2154
case $words in
  "projects describe "*) echo 123456789012 ;;
  "run services describe "*)
    region=" $* "
    region=${region#* --region=}
    echo "https://$SERVICE-123456789012.${region%% *}.run.app"
    ;;
esac
