"""How the door is kept: the address, TLS, tokens, and what may come in."""

from __future__ import annotations

import argparse
import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from deltann.cli.home import default_home
from deltann.errors import InputError, StackError
from deltann_gateway.tokens import Tokens
from deltann_gateway.uploads import UploadLimits

LOOPBACK = "127.0.0.1:50051"


@dataclass(frozen=True)
class Tls:
    """PEM files: the gateway's certificate and key; with ``client_ca`` clients need certificates of that CA too."""

    cert: Path
    key: Path
    client_ca: Path | None = None

    def credentials(self) -> grpc.ServerCredentials:
        """What gRPC serves with.

        Raises:
            InputError: if a file cannot be read.
        """
        pair = (_pem(self.key, "--tls-key"), _pem(self.cert, "--tls-cert"))
        ca = None if self.client_ca is None else _pem(self.client_ca, "--client-ca")
        return grpc.ssl_server_credentials([pair], root_certificates=ca, require_client_auth=ca is not None)


@dataclass(frozen=True)
class Door:
    """The door of one gateway. It is closed to the network unless callers show tokens over TLS.

    Args:
        listen: ``HOST:PORT``; port 0 takes a free one.
        tokens: of those who may call; None asks for none.
        tls: None for plain text.
        insecure: listen on a public address without tokens or TLS all the same.
        trust_admins: whether an admin's study may name models that run code.
        uploads: folder of uploads that are on their way; in this user's home of DeltaNN where it is not given.
        limits: of uploads.

    Raises:
        InputError: for a combination that would leave the door open.
    """

    listen: str = LOOPBACK
    tokens: Tokens | None = None
    tls: Tls | None = None
    insecure: bool = False
    trust_admins: bool = False
    uploads: Path = field(default_factory=lambda: default_home() / "uploads")
    limits: UploadLimits = field(default_factory=UploadLimits)

    def __post_init__(self) -> None:
        missing = [what for what, there in (("--tokens", self.tokens), ("--tls-cert", self.tls)) if there is None]
        if missing and not self.insecure and not is_loopback(self.listen):
            raise InputError(
                f"{self.listen} can be reached from the network, and {' and '.join(missing)} "
                f"{'are' if len(missing) > 1 else 'is'} not given: anybody there could run jobs here or read along. "
                "Give them, listen on 127.0.0.1, or say --insecure where something else keeps strangers out."
            )
        if self.trust_admins and self.tokens is None:
            raise InputError("--trust-admins runs an admin's code, and without --tokens nobody is known to be one.")

    def bind(self, server: grpc.aio.Server) -> int:
        """Have a server listen; the port.

        Raises:
            InputError: if certificate and key are none.
            StackError: if the address cannot be had.
        """
        try:
            if self.tls is None:
                return server.add_insecure_port(self.listen)
            return server.add_secure_port(self.listen, self.tls.credentials())
        except RuntimeError as error:
            if self.tls is not None and not _fits(self.tls):
                raise InputError(
                    f"{self.tls.cert} and {self.tls.key} are no certificate with its key, in PEM. Check both files."
                ) from error
            raise StackError(
                f"The gateway cannot listen on {self.listen}: {error}. Something else may be listening there; "
                "name another address with --listen."
            ) from error


def is_loopback(listen: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    host = listen.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or listen.startswith("unix:")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the door."""

    def path(name: str, variable: str, about: str) -> None:
        found = os.environ.get(variable)
        parser.add_argument(name, type=Path, default=Path(found) if found else None, metavar="FILE", help=about)

    parser.add_argument("--listen", default=os.environ.get("DELTANN_LISTEN", LOOPBACK), metavar="HOST:PORT")
    path("--tokens", "DELTANN_TOKENS", "who may call: lines that `deltann-gateway token` prints")
    path("--tls-cert", "DELTANN_TLS_CERT", "certificate of the gateway, with its chain, in PEM")
    path("--tls-key", "DELTANN_TLS_KEY", "its key")
    path("--client-ca", "DELTANN_CLIENT_CA", "CA whose certificates clients have to have")
    parser.add_argument("--insecure", action="store_true", help="listen publicly without tokens or TLS all the same")
    parser.add_argument("--trust-admins", action="store_true", help="let admins submit models that run code")
    path("--uploads", "DELTANN_UPLOADS", "folder of uploads that are on their way")
    parser.add_argument("--max-artifact-mb", type=int, default=4096, metavar="MB", help="largest upload")
    parser.add_argument("--max-uploads", type=int, default=8, metavar="N", help="uploads at a time")


def door_of(options: argparse.Namespace) -> Door:
    """The door that options describe.

    Raises:
        InputError: for options that do not go together, or files that cannot be read.
    """
    tls = None
    if options.tls_cert and options.tls_key:
        tls = Tls(options.tls_cert, options.tls_key, options.client_ca)
    elif options.tls_cert or options.tls_key or options.client_ca:
        raise InputError("TLS takes --tls-cert and --tls-key together, and --client-ca only with them.")
    most = options.max_artifact_mb * 1_000_000
    limits = UploadLimits(artifact_bytes=most, at_once=options.max_uploads, partial_bytes=4 * most)
    insecure = options.insecure or os.environ.get("DELTANN_INSECURE") == "1"
    tokens = Tokens(options.tokens) if options.tokens else None
    uploads = {"uploads": options.uploads} if options.uploads else {}
    return Door(options.listen, tokens, tls, insecure, options.trust_admins, limits=limits, **uploads)


def _pem(path: Path, option: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} of {option} cannot be read: {error.strerror}. Name a PEM file.") from error


def _fits(tls: Tls) -> bool:
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tls.cert, tls.key)
    except (ssl.SSLError, OSError):
        return False
    return True
