#!/usr/bin/env bash
# Installs Chromium and the npm modules that run models in it, pinned with their hashes by package-lock.json.
# usage: tools/web.sh        (DELTANN_VENV: the environment, default .venv;  DELTANN_WEB: another folder)
set -euo pipefail
cd "$(dirname "$0")/.."
tools/chromium.sh
command -v npm >/dev/null || { echo "web: npm is needed to fetch onnxruntime-web. Install it with: sudo apt-get install npm" >&2; exit 3; }
venv=${DELTANN_VENV:-.venv}
folder=${DELTANN_WEB:-$venv/share/deltann-web}
lock=engines/deltann_engines/web/package-lock.json
if cmp -s "$lock" "$folder/package-lock.json" && [ -f "$folder/node_modules/.package-lock.json" ]; then exit 0; fi
mkdir -p "$folder"
cp engines/deltann_engines/web/package.json "$lock" "$folder"
npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error
