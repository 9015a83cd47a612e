# Training in PyTorch and in Keras.
# Build from the repository's root:
#   docker build -f deploy/docker/trainer.Dockerfile -t deltann-trainer .
# LEAVE_OUT names distributions to leave out with all that only they need; TORCH_BACKEND is the build of PyTorch: cpu, or
# one of CUDA's such as cu130 (uv's --torch-backend), or empty for the one on PyPI, with CUDA.
ARG BASE_IMAGE=python:3.11-slim-bookworm

# hadolint ignore=DL3006
FROM ${BASE_IMAGE} AS tools
WORKDIR /src
COPY constraints.txt ./
# The build tools pinned like everything else: an isolated build would fetch whatever is newest.
RUN --mount=type=cache,target=/root/.cache/pip python3 -m venv /opt/build \
    && /opt/build/bin/pip install -c constraints.txt uv setuptools wheel grpcio-tools mypy-protobuf
ENV PATH=/opt/build/bin:$PATH UV_LINK_MODE=copy

# Everything but our own code: a change of code leaves this layer, the large one, as it is.
FROM tools AS dependencies
ARG UV_COMPILE_BYTECODE=1
ARG LEAVE_OUT=""
ARG TORCH_BACKEND=cpu
COPY pyproject.toml README.md ./
COPY engines/pyproject.toml ./engines/
COPY services/trainer/pyproject.toml ./services/trainer/
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /metadata . ./engines ./services/trainer
RUN --mount=type=cache,target=/root/.cache/uv \
    for name in ${LEAVE_OUT}; do echo "$name; sys_platform == 'never'"; done > left_out.txt \
    && python3 -m venv --without-pip /opt/deltann \
    && uv pip install --python /opt/deltann/bin/python -c constraints.txt \
       --override left_out.txt ${TORCH_BACKEND:+--torch-backend "${TORCH_BACKEND}"} /metadata/*.whl \
    && uv pip uninstall --python /opt/deltann/bin/python deltann deltann-engines deltann-trainer

FROM dependencies AS code
COPY setup.py MANIFEST.in ./
COPY proto ./proto
COPY deltann ./deltann
COPY engines ./engines
COPY services/trainer ./services/trainer
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . ./engines ./services/trainer \
    && uv pip install --python /opt/deltann/bin/python --no-deps --prefix /opt/code /wheels/*.whl

# hadolint ignore=DL3006
FROM ${BASE_IMAGE}
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 10001 deltann && install -d -o deltann -m 700 /run/deltann
COPY --from=dependencies /opt/deltann /opt/deltann
COPY --from=code /opt/code /opt/deltann
ENV PATH=/opt/deltann/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 \
    DELTANN_HOME=/home/deltann/home DELTANN_RUNTIME_DIR=/run/deltann
USER 10001
WORKDIR /home/deltann
# All that is written lies in these; containers of one host share the last, which holds the lock of its cores.
VOLUME ["/home/deltann", "/tmp", "/run/deltann"]
CMD ["deltann", "worker", "trainer"]
