#!/usr/bin/env bash
# Builds every image that `make test-containers` runs, on a Debian machine that reaches no image registry (as root).
# usage: tools/test_images.sh [arm64] [torch]
#   arm64: also an executor for arm64, under qemu
#   torch: with all that a sweep of four frameworks needs; PyPI has PyTorch with CUDA alone, which is 6 GB an image
set -euo pipefail
cd "$(dirname "$0")/.."
export CONTAINERS_CONF=$PWD/tests/e2e/containers/containers.conf
base=localhost/deltann-base
asked() { [[ " $arguments " == *" $1 "* ]]; }
arguments=$*
keep_layers=true

packages=(podman runc netavark aardvark-dns catatonit iptables mmdebstrap)
asked arm64 && packages+=(arch-test qemu-user-static)
if ! dpkg --status "${packages[@]}" >/dev/null 2>&1; then
  echo "images: installing Debian's ${packages[*]}"
  { apt-get install -y -qq --no-install-recommends "${packages[@]}" ||
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${packages[@]}"; }; } >/dev/null
fi

build() {  # build NAME DOCKERFILE [OPTION...]
  local name=$1 file=$2 start=$SECONDS
  shift 2
  podman build --quiet --network host --layers="$keep_layers" --file "$file" --tag "localhost/$name:test" "$@" . >/dev/null
  echo "images: $name, $(podman image inspect --format '{{.Size}}' "localhost/$name:test" | numfmt --to si), $((SECONDS - start)) s"
}
service() {  # service NAME [DISTRIBUTION TO LEAVE OUT...]
  build "deltann-$1" "deploy/docker/$1.Dockerfile" --build-arg BASE_IMAGE=$base --build-arg TORCH_BACKEND= --build-arg LEAVE_OUT="${*:2}"
}

podman image exists $base || tools/base_image.sh $base >/dev/null
for store in redis seaweedfs prometheus; do
  build deltann-$store tests/e2e/containers/stores.Dockerfile --target $store --build-arg BASE_IMAGE=$base
done
service gateway
service analyzer
if asked torch; then
  keep_layers=false  # they would take some 50 GB
  for name in converter compiler executor; do service $name triton openvino iree-base-compiler iree-base-runtime; done
  keep_layers=true
else
  # The tests compile ONNX, and execute ONNX, TFLite and compiled modules.
  service converter torch torchvision
  service compiler torch torchvision iree-base-compiler
  service executor torch torchvision keras tensorflow onnx2keras openvino iree-base-runtime
fi

if asked arm64; then
  mountpoint -q /proc/sys/fs/binfmt_misc || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
  [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64 2>/dev/null ||
    cat /usr/lib/binfmt.d/qemu-aarch64.conf > /proc/sys/fs/binfmt_misc/register
  podman image exists $base-arm64 || tools/base_image.sh $base-arm64 arm64 >/dev/null
  build deltann-executor-arm64 deploy/docker/executor.Dockerfile --arch arm64 --build-arg BASE_IMAGE=$base-arm64 \
    --build-arg UV_COMPILE_BYTECODE=0 \
    --build-arg LEAVE_OUT="torch torchvision keras tensorflow onnx2keras onnxruntime onnx openvino iree-base-runtime"
fi
