# TVM modules; linking them needs a C compiler in the image. Build from the repository's root:
#   docker build -f deploy/docker/compiler.Dockerfile -t deltann-compiler .
FROM python:3.11-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
RUN python -m venv /opt/deltann
ENV PATH=/opt/deltann/bin:$PATH
COPY constraints.txt ./
# The build tools pinned like everything else; without isolation pip would fetch the newest for each build.
RUN pip install -c constraints.txt setuptools wheel grpcio-tools mypy-protobuf
COPY pyproject.toml setup.py MANIFEST.in README.md ./
COPY proto ./proto
COPY deltann ./deltann
COPY engines ./engines
COPY services/compiler ./services/compiler
RUN pip install -c constraints.txt --no-build-isolation . ./engines ./services/compiler \
    && pip uninstall --yes grpcio-tools mypy-protobuf wheel

FROM python:3.11-slim-bookworm
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev libgomp1 \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 10001 deltann
COPY --from=build /opt/deltann /opt/deltann
ENV PATH=/opt/deltann/bin:$PATH PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1 DELTANN_HOME=/home/deltann/home
USER deltann
WORKDIR /home/deltann
RUN mkdir home
VOLUME /home/deltann/home
CMD ["deltann", "worker", "compiler"]
