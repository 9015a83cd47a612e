# Device-pinned inference on NVIDIA Jetson boards. Build on a board, from the repository's root:
#   docker build -f deploy/docker/executor-jetson.Dockerfile -t deltann-executor-jetson .
# The base image, NVIDIA's for the JetPack of the board, brings CUDA; the engines that need none of PyTorch and TensorFlow
# come from PyPI.
ARG BASE_IMAGE=nvcr.io/nvidia/l4t-jetpack:r36.4.0

# hadolint ignore=DL3006
FROM ${BASE_IMAGE} AS python
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 python3.11 python3.11-venv \
    && rm -rf /var/lib/apt/lists/*

FROM python AS tools
WORKDIR /src
COPY constraints.txt ./
# The build tools pinned like everything else: an isolated build would fetch whatever is newest.
RUN --mount=type=cache,target=/root/.cache/pip python3.11 -m venv /opt/build \
    && /opt/build/bin/pip install -c constraints.txt uv setuptools wheel grpcio-tools mypy-protobuf
ENV PATH=/opt/build/bin:$PATH UV_LINK_MODE=copy

# Everything but our own code: a change of code leaves this layer, the large one, as it is.
FROM tools AS dependencies
ARG LEAVE_OUT="torch torchvision keras tensorflow onnx2keras openvino iree-base-runtime"
COPY pyproject.toml README.md ./
COPY engines/pyproject.toml ./engines/
COPY services/executor/pyproject.toml ./services/executor/
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /metadata . ./engines ./services/executor
RUN --mount=type=cache,target=/root/.cache/uv \
    for name in ${LEAVE_OUT}; do echo "$name; sys_platform == 'never'"; done > left_out.txt \
    && python3.11 -m venv --without-pip /opt/deltann \
    && uv pip install --python /opt/deltann/bin/python -c constraints.txt --override left_out.txt /metadata/*.whl \
    && uv pip uninstall --python /opt/deltann/bin/python deltann deltann-engines deltann-executor \
    # TVM's runtime is enough to execute.
    && rm -rf /opt/deltann/lib/python3*/site-packages/tvm/lib/libtvm_compiler.so \
       /opt/deltann/lib/python3*/site-packages/tvm/3rdparty /opt/deltann/lib/python3*/site-packages/tvm/src

FROM dependencies AS code
COPY setup.py MANIFEST.in ./
COPY proto ./proto
COPY deltann ./deltann
COPY engines ./engines
COPY services/executor ./services/executor
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . ./engines ./services/executor \
    && uv pip install --python /opt/deltann/bin/python --no-deps --prefix /opt/code /wheels/*.whl

FROM python
# The board's sensors and its GPU belong to the group video.
RUN useradd --create-home --uid 10001 --groups video deltann && install -d -o deltann -m 700 /run/deltann
COPY --from=dependencies /opt/deltann /opt/deltann
COPY --from=code /opt/code /opt/deltann
ENV PATH=/opt/deltann/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 \
    DELTANN_HOME=/home/deltann/home DELTANN_RUNTIME_DIR=/run/deltann NVIDIA_VISIBLE_DEVICES=all
USER 10001
WORKDIR /home/deltann
# All that is written lies in these; containers of one host share the last, which holds the lock of its cores.
VOLUME ["/home/deltann", "/tmp", "/run/deltann"]
CMD ["deltann", "worker", "executor", "--pool", "jetson"]
