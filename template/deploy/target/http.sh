# shellcheck shell=bash
# An HTTP endpoint, which is there already.

if [[ ! $TARGET =~ ^https://[^/[:space:]][^[:space:]]*$ ]]; then
  stop "TARGET is '$TARGET', which names nothing to start." \
    "Set it in deploy/config.sh, in the form https://HOST/PATH"
fi

target_setup() {
  say "- whose endpoint it is lets $(address "$RUNNER") in: on Cloud Run by roles/run.invoker"
}
