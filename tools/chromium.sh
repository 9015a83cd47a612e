#!/usr/bin/env bash
# Makes sure that there is a Chromium to look at reports with: installs Debian's as root, or names it.
set -euo pipefail
command -v chromium >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "setup: installing the Debian package chromium (tests look at the report with it)"
  { apt-get install -y -qq chromium || { apt-get update -qq && apt-get install -y -qq chromium; }; } >/dev/null
else
  echo "setup: the browser tests need Chromium and will fail without it. Install it with: sudo apt-get install chromium" >&2
fi
