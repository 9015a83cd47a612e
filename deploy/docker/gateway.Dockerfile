# The gRPC front door and the dispatcher.
# Build from the repository's root:
#   docker build -f deploy/docker/gateway.Dockerfile -t deltann-gateway .
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
COPY pyproject.toml README.md ./
COPY services/gateway/pyproject.toml ./services/gateway/
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /metadata . ./services/gateway
RUN --mount=type=cache,target=/root/.cache/uv python3 -m venv --without-pip /opt/deltann \
    && uv pip install --python /opt/deltann/bin/python -c constraints.txt /metadata/*.whl \
    && uv pip uninstall --python /opt/deltann/bin/python deltann deltann-gateway

FROM dependencies AS code
COPY setup.py MANIFEST.in ./
COPY proto ./proto
COPY deltann ./deltann
COPY services/gateway ./services/gateway
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . ./services/gateway \
    && uv pip install --python /opt/deltann/bin/python --no-deps --prefix /opt/code /wheels/*.whl

# hadolint ignore=DL3006
FROM ${BASE_IMAGE}
RUN useradd --create-home --uid 10001 deltann && install -d -o deltann -m 700 /run/deltann
COPY --from=dependencies /opt/deltann /opt/deltann
COPY --from=code /opt/code /opt/deltann
ENV PATH=/opt/deltann/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 \
    DELTANN_HOME=/home/deltann/home DELTANN_RUNTIME_DIR=/run/deltann
USER 10001
WORKDIR /home/deltann
# All that is written lies in these; containers of one host share the last, which holds the lock of its cores.
VOLUME ["/home/deltann", "/tmp", "/run/deltann"]
EXPOSE 50051
CMD ["deltann-gateway", "--listen", "0.0.0.0:50051"]
