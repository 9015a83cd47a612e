#!/usr/bin/env bash
# Builds DeltaNN's one environment, or does nothing where it is up to date.
# usage: tools/setup.sh        (DELTANN_VENV: where, default .venv;  DELTANN_PYTHON: which Python)
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${DELTANN_VENV:-.venv}
distributions=(. engines services/converter services/trainer services/compiler services/executor services/analyzer services/gateway)

# The stamp tells whether what is installed is what this checkout asks for.
stamp=$(cat constraints.txt tools/setup.sh pyproject.toml setup.py engines/pyproject.toml services/*/pyproject.toml proto/deltann/v1/*.proto | sha256sum | cut -c1-16)
stamp="$stamp $(pwd)"
if [ "$(cat "$venv/.deltann-stamp" 2>/dev/null)" = "$stamp" ] && compgen -G 'deltann/v1/*_pb2.py' >/dev/null; then exit 0; fi

# What is lacking is all told at once; root gets it installed.
lacking=()  # Debian packages
why=()
need() {  # need COMMAND PACKAGE WHY
  command -v "$1" >/dev/null || { lacking+=("$2"); why+=("$1 ($3)"); }
}
fits() { command -v "$1" >/dev/null && "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 13))' 2>/dev/null; }
find_python() {
  python=
  for candidate in ${DELTANN_PYTHON:-python3.11 python3.12 python3}; do
    if fits "$candidate"; then python=$candidate; return; fi
  done
}
find_python
if [ -n "${DELTANN_PYTHON:-}" ] && [ -z "$python" ]; then
  echo "setup: DELTANN_PYTHON is $DELTANN_PYTHON, which is no Python 3.11 or 3.12. Name another, or leave it out to have one looked for." >&2
  exit 3
fi
need git git "the sources are kept in it"
need make make "every step is one of its targets"
need cc gcc "TVM links its modules with it"
if [ -z "$python" ]; then
  lacking+=(python3 python3-venv); why+=("Python 3.11 or 3.12 (none is on the PATH)")
elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  # Debian and Ubuntu have it apart, under the version's own name.
  lacking+=("python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"); why+=("venv ($python cannot make environments)")
fi
if [ "${#lacking[@]}" -gt 0 ]; then
  told=$(printf ', %s' "${why[@]}")
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "setup: installing the Debian packages ${lacking[*]}, for ${told:2}"
    { apt-get install -y -qq "${lacking[@]}" || { apt-get update -qq && apt-get install -y -qq "${lacking[@]}"; }; } >/dev/null || {
      echo "setup: DeltaNN needs ${told:2}, and apt-get could not install it. What it said is above; install it and run make setup again." >&2
      exit 3
    }
    find_python
  else
    echo "setup: DeltaNN needs ${told:2}. Install it with: sudo apt-get install ${lacking[*]}. Then run make setup again." >&2
    exit 3
  fi
fi
if [ -z "$python" ]; then
  echo "setup: the python3 of this system is none of 3.11 and 3.12, which DeltaNN needs. Install one beside it (apt-get install python3.12 python3.12-venv where the system has it, else pyenv install 3.11) and name it: DELTANN_PYTHON=/path/to/python3.11 make setup" >&2
  exit 3
fi

free_gb=$(df --output=avail -BG "$(dirname "$venv")" | tail -1 | tr -dc 0-9)
if [ ! -e "$venv" ] && [ "$free_gb" -lt 12 ]; then
  echo "setup: the environment takes 10 GB and only $free_gb GB are free at $(dirname "$venv"). Free some, or set DELTANN_VENV to another disk." >&2
  exit 3
fi

start=$SECONDS
echo "setup: installing into $venv (about 10 GB; minutes the first time) ..."
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
pip=("$venv/bin/python" -m pip --disable-pip-version-check install --quiet -c constraints.txt)
# The build tools first and pinned: an isolated build would fetch whatever is newest.
"${pip[@]}" setuptools wheel grpcio-tools mypy-protobuf
"${pip[@]}" --no-build-isolation $(for d in "${distributions[@]}"; do
  case $d in .) echo "-e .[embedded,dev,tracing]";; services/converter) echo "-e ./$d[studies]";; *) echo "-e ./$d";; esac; done)
"$venv/bin/python" proto/generate.py
"$venv/bin/python" -m pip check
echo "$stamp" > "$venv/.deltann-stamp"
echo "setup: done in $((SECONDS - start)) s"
