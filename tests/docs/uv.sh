#!/usr/bin/env bash
# Stands in for uv and uvx: what they would download is in the environment that runs the tests,
# SHARED. An environment that it makes has the same programs and libraries, and is not the same.
set -euo pipefail

here=$(realpath "$0")

link() {
  mkdir -p "$1/bin"
  ln -sf "$SHARED"/bin/* "$1/bin/"
  ln -sf "$here" "$1/bin/uv"
  ln -sf "$here" "$1/bin/uvx"
  ln -sfn "$SHARED/lib" "$1/lib"
  cp "$SHARED/pyvenv.cfg" "$1/"
}

if [[ ${0##*/} == uvx ]]; then
  program=$1
  shift
  exec "$SHARED/bin/$program" "$@"
fi
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
