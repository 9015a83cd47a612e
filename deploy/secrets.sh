#!/usr/bin/env bash
# Makes what docker-compose.yml asks for: passwords, a certificate of the gateway, a token for you, and the keys by which
# executors know what the compilers have made.
# usage: deploy/secrets.sh [FOLDER]       (default deploy/secrets; HOSTS: more names of the gateway)
# Compose reads the passwords from .env, which is written beside docker-compose.yml unless it is there already.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-deploy/secrets}
gateway=${DELTANN_VENV:-.venv}/bin/deltann-gateway
if [ -e "$folder" ] || [ -e .env ]; then
  echo "secrets: $folder or .env is there already; nothing was changed. Remove both to make new ones." >&2
  exit 2
fi

secret() { openssl rand -hex 24; }
mkdir -m 700 -p "$folder"
names="DNS:localhost,DNS:gateway,IP:127.0.0.1"
for host in ${HOSTS:-}; do names="$names,DNS:$host"; done
openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj /CN=deltann-gateway -addext "subjectAltName=$names" \
  -keyout "$folder/tls.key" -out "$folder/tls.crt" 2>/dev/null
(umask 077; "$gateway" token --name "$(id -un)" --role admin --file "$folder/tokens.yml" > "$folder/token")
openssl genpkey -algorithm ed25519 -out "$folder/signing.key" 2>/dev/null
openssl pkey -in "$folder/signing.key" -pubout -out "$folder/signing.pub"
# In the containers another user reads these; strangers are kept out by the folder.
chmod 644 "$folder"/tokens.yml "$folder"/tls.* "$folder"/signing.*
(
  umask 077
  cat > .env <<EOF
DELTANN_SECRETS=$(cd "$folder" && pwd)
DELTANN_REDIS_PASSWORD=$(secret)
DELTANN_S3_ACCESS_KEY=$(secret)
DELTANN_S3_SECRET_KEY=$(secret)
DELTANN_GRAFANA_PASSWORD=$(secret)
DELTANN_FLOWER_AUTH=deltann:$(secret)
EOF
)
echo "secrets: made. The gateway's clients use"
echo "  export DELTANN_CA=$folder/tls.crt DELTANN_TOKEN_FILE=$folder/token"
