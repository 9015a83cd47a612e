#!/usr/bin/env bash
# Makes sure that there is OpenCL to test with: the headers to build our runtime, PoCL to run it on, and the runtime itself.
# usage: tools/opencl.sh        (after tools/setup.sh; DELTANN_VENV: the environment, default .venv)
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${DELTANN_VENV:-.venv}
packages=(pocl-opencl-icd opencl-headers ocl-icd-opencl-dev)
if ! dpkg-query -W -f '${Status}\n' "${packages[@]}" 2>/dev/null | awk '!/ok installed/ {bad = 1} END {exit bad || NR < 3}'; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "opencl: installing the Debian packages ${packages[*]} (PoCL runs OpenCL on the processor)"
    { apt-get install -y -qq --no-install-recommends "${packages[@]}" ||
      { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${packages[@]}"; }; } >/dev/null
  else
    echo "opencl: building and testing the runtime needs OpenCL. Install it with: sudo apt-get install ${packages[*]}" >&2
    exit 3
  fi
fi
stamp=$(cat constraints.txt $(find runtimes/opencl -type f \( -name '*.cc' -o -name '*.h' -o -name '*.py' -o -name '*.toml' \) | sort) | sha256sum | cut -c1-16)
if [ "$(cat "$venv/.deltann-opencl-stamp" 2>/dev/null)" = "$stamp" ] && "$venv/bin/python" -m pip show -q deltann-tvm-opencl; then exit 0; fi
echo "opencl: building the runtime into $venv (about a minute) ..."
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
cp -r runtimes/opencl/. "$built"  # setuptools builds beside the sources
"$venv/bin/python" -m pip --disable-pip-version-check install --quiet -c constraints.txt --no-build-isolation --force-reinstall --no-deps "$built"
echo "$stamp" > "$venv/.deltann-opencl-stamp"
