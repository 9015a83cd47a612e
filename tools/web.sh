#!/usr/bin/env bash
# Makes sure that there is a web to run models in: Chromium, and the npm modules that a page loads, at their pinned hashes.
# usage: tools/web.sh        (after tools/setup.sh; DELTANN_VENV: the environment, default .venv; DELTANN_WEB: where to)
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${DELTANN_VENV:-.venv}
place=${DELTANN_WEB:-$venv/share/deltann-web}
pinned=engines/deltann_engines/web
tools/chromium.sh
stamp=$(cat "$pinned/package.json" "$pinned/package-lock.json" | sha256sum | cut -c1-16)
[ "$(cat "$place/.stamp" 2>/dev/null)" = "$stamp" ] && exit 0
if ! command -v npm >/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "web: installing the Debian package npm (the browser's modules come with it)"
    { apt-get install -y -qq --no-install-recommends npm ||
      { apt-get update -qq && apt-get install -y -qq --no-install-recommends npm; }; } >/dev/null
  else
    echo "web: the engine onnxruntime-web is an npm module, and there is no npm to install it with. Install it with: sudo apt-get install npm. Then run tools/web.sh again." >&2
    exit 3
  fi
fi
echo "web: installing npm's modules into $place ..."
mkdir -p "$place"
cp "$pinned/package.json" "$pinned/package-lock.json" "$place"
# Every archive is held against its hash in package-lock.json; no script of a package is run.
npm ci --prefix "$place" --ignore-scripts --no-audit --no-fund --loglevel=error
echo "$stamp" > "$place/.stamp"
