#!/usr/bin/env bash
# Makes a stand-in for python:3.11-slim-bookworm from Debian's packages, where no image registry can be reached.
# usage: tools/base_image.sh IMAGE [ARCHITECTURE]      (as root; ARCHITECTURE: amd64, arm64, ...; default this one's)
# On this architecture its Python is a copy of the host's own build, where there is one: Debian's is an early 3.11.
# The host's certificates go into it, so that the images that are built on it reach what the host reaches.
set -euo pipefail
image=${1:?usage: tools/base_image.sh IMAGE [ARCHITECTURE]}
native=$(dpkg --print-architecture)
architecture=${2:-$native}

prefix=$(python3 -c 'import sys; print(sys.base_prefix)')
if [ "$architecture" = "$native" ] && [ "$prefix" != /usr ]; then
  python=$(python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
  customize="tar -C '$prefix' --exclude='lib/$python/test' --exclude='lib/$python/site-packages/*' --exclude='*.a' \
    --exclude=__pycache__ -cf - bin/$python include lib | tar -C \"\$1\"/usr/local -xf - \
    && ln -sf $python \"\$1\"/usr/local/bin/python3 && chroot \"\$1\" ldconfig"
else
  customize=true
fi

mmdebstrap --quiet --variant=minbase --architectures="$architecture" \
  --include=ca-certificates,netbase,python3,python3-venv,usr-is-merged \
  --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' \
  --aptopt='Dir::Cache::pkgcache ""' --aptopt='Dir::Cache::srcpkgcache ""' \
  --customize-hook="$customize" \
  --customize-hook='copy-in /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs' \
  bookworm - |
  podman import --quiet --arch "$architecture" --change 'ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt' \
    --change 'ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt' --change 'ENV LANG=C.UTF-8' \
    --change 'ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin' - "$image"
