"""What a client shows at the door: a token, and certificates for TLS."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import grpc

from deltann.errors import InputError

SYSTEM = "system"


@dataclass(frozen=True)
class Credentials:
    """How to connect.

    Args:
        token: sent with every call.
        ca: PEM file of the CA that the gateway's certificate is of, or ``system`` for those this machine trusts.
            Without it, the connection is plain text.
        cert: PEM file of the client's certificate, where the gateway asks for one.
        key: PEM file of its key.
        insecure: send the token in plain text over the network all the same.
    """

    token: str | None = field(default=None, repr=False)
    ca: str | None = None
    cert: Path | None = None
    key: Path | None = None
    insecure: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """What ``DELTANN_TOKEN`` (or ``DELTANN_TOKEN_FILE``), ``_CA``, ``_CERT``, ``_KEY`` and ``_INSECURE`` say.

        Raises:
            InputError: if the file of the token cannot be read.
        """
        token, file = environment.get("DELTANN_TOKEN"), environment.get("DELTANN_TOKEN_FILE")
        if not token and file:
            token = _read(file, "DELTANN_TOKEN_FILE").decode(errors="replace")
        cert, key = environment.get("DELTANN_CERT"), environment.get("DELTANN_KEY")
        return cls(
            token=token.strip() if token else None,
            ca=environment.get("DELTANN_CA") or None,
            cert=Path(cert) if cert else None,
            key=Path(key) if key else None,
            insecure=environment.get("DELTANN_INSECURE") == "1",
        )

    def tls(self) -> grpc.ChannelCredentials | None:
        """For a channel; None for plain text.

        Raises:
            InputError: if a file cannot be read, or certificate and key are not given together.
        """
        if (self.cert is None) != (self.key is None) or (self.cert is not None and self.ca is None):
            raise InputError(
                "A client's certificate takes DELTANN_CERT and DELTANN_KEY together, and DELTANN_CA for the gateway's."
            )
        if self.ca is None:
            return None
        return grpc.ssl_channel_credentials(
            root_certificates=None if self.ca == SYSTEM else _read(self.ca, "DELTANN_CA"),
            private_key=None if self.key is None else _read(self.key, "DELTANN_KEY"),
            certificate_chain=None if self.cert is None else _read(self.cert, "DELTANN_CERT"),
        )

    def check(self, host: str) -> None:
        """See that the token would not be read along.

        Raises:
            InputError: if it would.
        """
        if self.token and self.ca is None and not self.insecure and not _here(host):
            raise InputError(
                f"The token would go to {host} in plain text, for anybody on the way to read. Name the CA of the "
                "gateway's certificate with DELTANN_CA=FILE (or DELTANN_CA=system), or say DELTANN_INSECURE=1 where "
                "something else keeps the network private."
            )


def _here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _read(path: str | Path, variable: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}, which {variable} names, cannot be read: {error.strerror}.") from error
