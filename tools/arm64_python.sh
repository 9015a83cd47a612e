#!/usr/bin/env bash
# Makes an aarch64 Python with TVM's runtime and DeltaNN's engines that runs on x86-64, by qemu: what a board would run.
# usage: tools/arm64_python.sh [FOLDER]      (as root on Debian; default ${XDG_CACHE_HOME:-~/.cache}/deltann/arm64)
# Prints the path of that Python. What is up to date is left as it is; else it takes half a minute and 160 MB.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/deltann/arm64}
python=${DELTANN_VENV:-.venv}/bin/python

stamp=$(cat tools/arm64_python.sh constraints.txt | sha256sum | cut -c1-16)
packages=(mmdebstrap arch-test qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
if ! dpkg --status "${packages[@]}" >/dev/null 2>&1; then
  if [ "$(id -u)" != 0 ]; then
    echo "arm64: modules for aarch64 are linked and run with Debian's packages. Install them with: sudo apt-get install ${packages[*]}" >&2
    exit 3
  fi
  echo "arm64: installing Debian's ${packages[*]}" >&2
  { apt-get install -y -qq --no-install-recommends "${packages[@]}" ||
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${packages[@]}"; }; } >/dev/null
fi

if [ "$(cat "$folder/stamp" 2>/dev/null)" != "$stamp" ]; then
  echo "arm64: making $folder ..." >&2
  rm -rf "$folder"
  mkdir -p "$folder"
  mmdebstrap --quiet --variant=extract --architectures=arm64 --include=python3.11,libstdc++6,libgomp1 \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' bookworm "$folder/root" >&2
  platforms=()
  for glibc in 28 27 26 24 17; do platforms+=(--platform "manylinux_2_${glibc}_aarch64"); done
  # What a worker of an executor imports whose one engine is tvm; redis wants async-timeout on Debian's 3.11.2.
  "$python" -m pip install --disable-pip-version-check --quiet -c constraints.txt --target "$folder/root/opt/site" \
    --only-binary=:all: --python-version 3.11 --implementation cp "${platforms[@]}" --platform manylinux2014_aarch64 \
    apache-tvm apache-tvm-ffi async-timeout 'celery[redis]' cloudpickle minio numpy pillow psutil pydantic PyYAML >&2
  # TVM is its runtime alone, as on a board.
  rm -rf "$folder"/root/opt/site/tvm/{lib/libtvm_compiler.so,lib/libtvm_runtime_cuda.so,3rdparty} "$folder"/root/var/{cache,lib/apt}
  # Compiled here, if this Python is a 3.11 too, since under emulation it would take seconds at every import.
  "$python" -m compileall -q "$folder/root/usr/lib/python3.11" >/dev/null || true
  echo "$stamp" > "$folder/stamp"
fi
cat > "$folder/python" <<EOF
#!/bin/sh
unset VIRTUAL_ENV PYTHONHOME
export QEMU_LD_PREFIX=$folder/root PYTHONPATH=$folder/root/opt/site\${PYTHONPATH:+:\$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
exec qemu-aarch64-static $folder/root/usr/bin/python3.11 "\$@"
EOF
chmod +x "$folder/python"
echo "$folder/python"
