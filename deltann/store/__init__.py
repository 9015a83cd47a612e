"""The artifact store: one interface, a local directory and S3 behind it."""

from deltann.store.base import ArtifactStore
from deltann.store.local import LocalStore

__all__ = ["ArtifactStore", "LocalStore", "open_store"]


def open_store(url: str) -> ArtifactStore:
    """The store that a URL names.

    Args:
        url: ``file:///path`` or a plain path for a directory; ``s3://HOST:PORT/BUCKET`` (``s3+https://`` with TLS),
            with the credentials in ``DELTANN_S3_ACCESS_KEY`` and ``DELTANN_S3_SECRET_KEY``.
    """
    if url.startswith(("s3://", "s3+https://")):
        from deltann.store.s3 import S3Store

        return S3Store.from_url(url)
    return LocalStore.from_url(url)
