#!/usr/bin/env bash
# Builds DeltaNN's one environment, or does nothing where it is up to date.
# usage: tools/setup.sh        (DELTANN_VENV: where, default .venv;  DELTANN_PYTHON: which Python)
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${DELTANN_VENV:-.venv}
distributions=(. engines services/converter services/compiler services/executor services/analyzer services/gateway)

# The stamp tells whether what is installed is what this checkout asks for.
stamp=$(cat constraints.txt tools/setup.sh pyproject.toml setup.py engines/pyproject.toml services/*/pyproject.toml proto/deltann/v1/*.proto | sha256sum | cut -c1-16)
stamp="$stamp $(pwd)"
if [ "$(cat "$venv/.deltann-stamp" 2>/dev/null)" = "$stamp" ] && compgen -G 'deltann/v1/*_pb2.py' >/dev/null; then exit 0; fi

need() {  # need COMMAND PACKAGE WHY: installs a Debian package as root, or names it
  command -v "$1" >/dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "setup: installing the Debian package $2 ($3)"
    { apt-get install -y -qq "$2" || { apt-get update -qq && apt-get install -y -qq "$2"; }; } >/dev/null
  else
    echo "setup: DeltaNN needs $1 ($3). Install it with: sudo apt-get install $2" >&2
    exit 3
  fi
}
need cc gcc "TVM links its modules with it"

python=${DELTANN_PYTHON:-}
for candidate in python3.11 python3.12 python3; do
  [ -n "$python" ] && break
  command -v "$candidate" >/dev/null && "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 13))' && python=$candidate
done
if [ -z "$python" ]; then
  echo "setup: DeltaNN needs Python 3.11 or 3.12, and there is none on the PATH. Install it with: sudo apt-get install python3 python3-venv" >&2
  exit 3
fi
if ! "$python" -c 'import ensurepip' 2>/dev/null; then
  if [ "$(id -u)" = 0 ]; then apt-get update -qq; apt-get install -y -qq python3-venv >/dev/null
  else echo "setup: $python cannot make environments. Install what is missing with: sudo apt-get install python3-venv" >&2; exit 3; fi
fi

free_gb=$(df --output=avail -BG "$(dirname "$venv")" | tail -1 | tr -dc 0-9)
if [ ! -e "$venv" ] && [ "$free_gb" -lt 10 ]; then
  echo "setup: the environment takes 8 GB and only $free_gb GB are free at $(dirname "$venv"). Free some, or set DELTANN_VENV to another disk." >&2
  exit 3
fi

start=$SECONDS
echo "setup: installing into $venv (about 8 GB; minutes the first time) ..."
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
pip=("$venv/bin/python" -m pip --disable-pip-version-check install --quiet -c constraints.txt)
# The build tools first and pinned: an isolated build would fetch whatever is newest.
"${pip[@]}" setuptools wheel grpcio-tools mypy-protobuf
"${pip[@]}" --no-build-isolation $(for d in "${distributions[@]}"; do
  case $d in .) echo "-e .[embedded,dev]";; *) echo "-e ./$d";; esac; done)
"$venv/bin/python" proto/generate.py
"$venv/bin/python" -m pip check
echo "$stamp" > "$venv/.deltann-stamp"
echo "setup: done in $((SECONDS - start)) s"
