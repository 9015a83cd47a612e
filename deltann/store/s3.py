"""The artifact store in a bucket of an S3 server (SeaweedFS, MinIO, AWS)."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

import urllib3
from minio import Minio
from minio.error import MinioException, S3Error, ServerError

from deltann.errors import StoreAwayError, StoreError
from deltann.store.base import ArtifactStore

_MISSING = {"NoSuchKey", "NoSuchObject", "ResourceNotFound"}
_AWAY = {"InternalError", "ServiceUnavailable", "SlowDown", "RequestTimeout"}
_CONFLICTS = 5  # a 409 says that another conditional put was under way: ask again
_CHUNK = 1 << 20


class S3Store(ArtifactStore):
    """Objects of one bucket, which is made where it is missing.

    Args:
        endpoint: ``HOST:PORT``.
        bucket: name of the bucket.
        access_key: of an account that can read, write, list and delete in it.
        secret_key: its secret.
        secure: whether to speak TLS.
    """

    def __init__(self, endpoint: str, bucket: str, access_key: str, secret_key: str, *, secure: bool = False) -> None:
        self.endpoint, self.bucket, self.secure = endpoint, bucket, secure
        self._http = urllib3.PoolManager(
            maxsize=16,
            timeout=urllib3.Timeout(connect=3, read=60),
            retries=urllib3.Retry(total=3, connect=1, backoff_factor=0.2, status_forcelist=[500, 502, 503, 504]),
        )
        self._client = Minio(
            endpoint,
            access_key=access_key,
            secret_key=secret_key,
            secure=secure,
            region="us-east-1",
            http_client=self._http,
        )
        with self._explained("open"):
            if not self._client.bucket_exists(bucket_name=bucket):
                try:
                    self._client.make_bucket(bucket_name=bucket)
                except S3Error as error:
                    if error.code not in ("BucketAlreadyOwnedByYou", "BucketAlreadyExists"):
                        raise

    @classmethod
    def from_url(cls, url: str) -> S3Store:
        """A store of ``s3://HOST:PORT/BUCKET``; ``s3+https://`` speaks TLS. Credentials come from the environment."""
        parts = urlsplit(url)
        bucket = parts.path.strip("/")
        if not parts.netloc or not bucket or "/" in bucket or "@" in parts.netloc:
            raise StoreError(
                f"The store {url!r} is not of the form s3://HOST:PORT/BUCKET; credentials do not go into it."
            )
        try:
            access, secret = os.environ["DELTANN_S3_ACCESS_KEY"], os.environ["DELTANN_S3_SECRET_KEY"]
        except KeyError as error:
            raise StoreError(
                f"The store {url} needs credentials: set DELTANN_S3_ACCESS_KEY and DELTANN_S3_SECRET_KEY "
                f"({error.args[0]} is not set)."
            ) from None
        return cls(parts.netloc, bucket, access, secret, secure=parts.scheme == "s3+https")

    @property
    def url(self) -> str:
        """``s3://HOST:PORT/BUCKET``, without credentials."""
        return f"{'s3+https' if self.secure else 's3'}://{self.endpoint}/{self.bucket}"

    def get(self, key: str) -> bytes | None:
        """The object's bytes, or None where there is none."""
        file = io.BytesIO()
        return file.getvalue() if self.download(key, file) else None

    def put(self, key: str, data: bytes) -> None:
        """Write or replace an object."""
        with self._explained(f"write {key} into"):
            self._client.put_object(bucket_name=self.bucket, object_name=key, data=io.BytesIO(data), length=len(data))

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object unless there is one: True for the one writer whose bytes are now stored.

        The SDK has no argument for the condition, so a URL is signed by it and sent with ``If-None-Match: *``.
        """
        with self._explained(f"write {key} into"):
            for _ in range(_CONFLICTS):
                url = self._client.get_presigned_url(method="PUT", bucket_name=self.bucket, object_name=key)
                answer = self._http.request("PUT", url, body=data, headers={"If-None-Match": "*"}, retries=False)
                if answer.status == 412:
                    return False
                if answer.status in (200, 201, 204):
                    return True
                if answer.status == 409 or answer.status >= 500:
                    if self.exists(key):
                        # Ours, if the server wrote it and failed in answering; then the bytes are the same.
                        return self.get(key) == data
                    continue
                break
            kind = StoreAwayError if answer.status >= 500 else StoreError
            raise kind(
                f"The store {self.url} answered {answer.status} when {key} was to be written: "
                f"{answer.data.decode(errors='replace')[:200]}. Check the server and its log, then run it again."
            )

    def exists(self, key: str) -> bool:
        """Whether there is an object under that key."""
        with self._explained(f"look for {key} in"):
            try:
                self._client.stat_object(bucket_name=self.bucket, object_name=key)
            except S3Error as error:
                if error.code in _MISSING:
                    return False
                raise
            return True

    def list(self, prefix: str) -> Iterator[str]:
        """The keys that begin with a prefix, in order."""
        with self._explained(f"list {prefix} in"):
            found = self._client.list_objects(bucket_name=self.bucket, prefix=prefix, recursive=True)
            # SeaweedFS lists folder by folder, which is not the order of the keys.
            yield from sorted(str(item.object_name) for item in found if not item.is_dir)

    def delete(self, key: str) -> None:
        """Remove an object; nothing happens where there is none."""
        with self._explained(f"delete {key} from"):
            self._client.remove_object(bucket_name=self.bucket, object_name=key)

    def upload(self, key: str, path: Path) -> None:
        """Write or replace an object from a file, without reading it into memory whole."""
        with self._explained(f"write {key} into"):
            self._client.fput_object(bucket_name=self.bucket, object_name=key, file_path=str(path))

    def download(self, key: str, file: BinaryIO) -> bool:
        """Copy an object into an open file: False where there is none."""
        with self._explained(f"read {key} from"):
            try:
                answer = self._client.get_object(bucket_name=self.bucket, object_name=key)
            except S3Error as error:
                if error.code in _MISSING:
                    return False
                raise
            try:
                for chunk in answer.stream(_CHUNK):
                    file.write(chunk)
            finally:
                answer.close()
                answer.release_conn()
            return True

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except urllib3.exceptions.HTTPError as error:
            raise StoreAwayError(
                f"Could not {what} the store {self.url}: the S3 server does not answer ({_reason(error)}). "
                "Check that it runs and that host and port are right."
            ) from error
        except S3Error as error:
            advice = "Check the server and its log."
            if error.code in ("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"):
                advice = "Check DELTANN_S3_ACCESS_KEY and DELTANN_S3_SECRET_KEY and what this account may do."
            kind = StoreAwayError if error.code in _AWAY else StoreError
            raise kind(f"Could not {what} the store {self.url}: {error.code}, {error.message}. {advice}") from error
        except (MinioException, ValueError) as error:
            away = isinstance(error, ServerError) and error.status_code >= 500  # from a proxy before the server
            raise (StoreAwayError if away else StoreError)(
                f"Could not {what} the store {self.url}: {error}. Check the server and its log."
            ) from error
        except OSError as error:
            raise StoreError(
                f"Could not {what} the store {self.url}: {error.strerror or error} on this machine."
            ) from error


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error).rpartition(": ")[2] or type(error).__name__
