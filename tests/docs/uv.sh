#!/usr/bin/env bash
# Stands in for uv, uvx and copier: what they would download is in the environment that runs the
# tests, SHARED. An environment that this uv makes has the same programs and libraries, and is not
# the same.
set -euo pipefail

here=$(realpath "$0")

link() {
  mkdir -p "$1/bin"
  ln -sf "$SHARED"/bin/* "$1/bin/"
  for program in uv uvx copier; do ln -sf "$here" "$1/bin/$program"; done
  ln -sfn "$SHARED/lib" "$1/lib"
  cp "$SHARED/pyvenv.cfg" "$1/"
}

run() {
  if [[ $1 == copier ]]; then
    shift
    exec "$SHARED/bin/python" "${here%/*}/quick_copier.py" "$@"
  fi
  exec "$SHARED/bin/$1" "${@:2}"
}

case ${0##*/} in
  uvx) run "$@" ;;
  copier) run copier "$@" ;;
esac
case $1 in
  sync)
    link .venv
    touch uv.lock
    ;;
  venv) link "${*: -1}" ;;
  pip) ;; # The packages are there.
  export) printf '# What uv.lock says.\n' >"${*: -1}" ;;
  *)
    echo "the tests' uv knows no $1" >&2
    exit 1
    ;;
esac
