#!/bin/sh
# Build .venv from the locks, or finish building it; does nothing where it is ready: `make setup`.
# .venv/ready holds the sha256 of the locks and the version of Python: no date, so that clones may share a .venv.
# PYTHON=... chooses another Python; else the newest supported one that is found. TORCH=cpu|cuda: see install.py.
set -eu
SUPPORTED="3.13 3.12 3.11"

version() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true; }
supported() { case " $SUPPORTED " in *" $1 "*) [ -n "$1" ] ;; *) false ;; esac; }
wanted() { "$1" -c 'import hashlib, sys
locks = [open(name, "rb").read() for name in ("requirements.lock", "envs/torch.lock", "envs/cuda.lock")]
print(hashlib.sha256(b"".join(locks)).hexdigest(), "%d.%d" % sys.version_info[:2])'; }

if [ -n "${PYTHON:-}" ]; then
  supported "$(version "$PYTHON")" || {
    echo "PYTHON=$PYTHON: no Python of $SUPPORTED; install one of these, or give another with PYTHON=..." >&2
    exit 1
  }
elif [ -x .venv/bin/python ] && supported "$(version .venv/bin/python)"; then
  PYTHON=.venv/bin/python # a newer one on the machine is no reason to build again
else
  for number in $SUPPORTED ""; do
    if supported "$(version "python${number:-3}")"; then PYTHON="python${number:-3}"; break; fi
  done
  [ -n "${PYTHON:-}" ] || {
    echo "no Python of $SUPPORTED found; install one (python.org, your system, or uv python install 3.13), or give its path with PYTHON=..." >&2
    exit 1
  }
fi

wanted="$(wanted "$PYTHON")"
if [ "$(cat .venv/ready 2>/dev/null)" = "$wanted" ] && [ -x .venv/bin/python ]; then
  case "${TORCH:-}" in "" | "$(cat .venv/torch 2>/dev/null)") exit 0 ;; esac
fi

echo "building .venv with Python ${wanted#* }, once"
rm -f .venv/ready
if [ "$PYTHON" != .venv/bin/python ]; then
  # One of another version is emptied; what a broken set-up of this version left is kept.
  if [ "$(version .venv/bin/python)" = "${wanted#* }" ]; then clear=""; else clear="--clear"; fi
  "$PYTHON" -m venv $clear .venv
elif ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
  .venv/bin/python -m ensurepip --upgrade >/dev/null
fi
.venv/bin/python envs/install.py
echo "$wanted" >.venv/ready
