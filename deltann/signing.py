"""Who made what is executed: compilers sign their results, and whoever knows their keys executes nothing else.

Signatures are Ed25519 (RFC 8032). Key files are PEM, as ``openssl genpkey -algorithm ed25519 -out signing.key`` and
``openssl pkey -in signing.key -pubout -out signing.pub`` write them; a file of public keys may hold several, one after
the other, so that a new key can be taken into use before the old one goes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deltann.digest import canonical_json
from deltann.errors import InputError, UnsignedError
from deltann.job import JobResult, Signature

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGNING_KEY = "DELTANN_SIGNING_KEY"
"""Names the file of a compiler's private key."""
MODULE_KEYS = "DELTANN_MODULE_KEYS"
"""Names the file of the public keys of the compilers whose modules may be executed."""

_WHAT = b"deltann.result/1\n"
_PUBLIC = re.compile(rb"-----BEGIN PUBLIC KEY-----.+?-----END PUBLIC KEY-----\n?", re.DOTALL)


class Signer:
    """A private key. ``public`` is its public half: 32 bytes in hexadecimal, which is also the name of the signer."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = key.public_key().public_bytes_raw().hex()

    def signed(self, result: JobResult) -> JobResult:
        """The result with its signature: over what it is the result of, its outcome, its artifacts and its data."""
        signature = Signature(signer=self.public, value=self._key.sign(_statement(result)).hex())
        return result.model_copy(update={"signature": signature})


@dataclass(frozen=True)
class Keys:
    """What a worker signs with, and whose signatures it takes: public keys, 32 bytes each in hexadecimal.

    Where it takes nobody's, as where no keys were given, nothing has to be signed.
    """

    signer: Signer | None = None
    trusted: tuple[str, ...] = ()


NO_KEYS = Keys()


def read_keys(signing_key: Path | None, module_keys: Path | None) -> Keys:
    """The keys of these files; a compiler takes its own signature too.

    Raises:
        InputError: for a file that cannot be read or holds no such key.
    """
    signer = None if signing_key is None else _read_signer(signing_key)
    trusted = () if module_keys is None else _read_trusted(module_keys)
    own = () if signer is None else (signer.public,)
    return Keys(signer, tuple(dict.fromkeys((*own, *trusted))))


def make_keys(folder: Path) -> tuple[Path, Path]:
    """The files of a pair of keys in that folder, made where they are missing; only this user can read them.

    Raises:
        OSError: if they cannot be written.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
        load_pem_private_key,
    )

    private, public = folder / "signing.key", folder / "signing.pub"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not private.exists():
        made = Ed25519PrivateKey.generate()
        _write(private, made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    key = load_pem_private_key(private.read_bytes(), password=None).public_key()
    _write(public, key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


def check_signed(result: JobResult, trusted: Collection[str]) -> None:
    """Return where one of these keys has signed the result as it is.

    Raises:
        UnsignedError: where none has; says why and what to do.
    """
    why = _fault(result, trusted)
    if why is not None:
        raise UnsignedError(
            f"A result of the kind {result.kind} ({result.result_key[:12]}…) was refused, and nothing of it executed: "
            f"{why}. Start every compiler with a key to sign with (--signing-key) and this worker with the public half "
            "of it (--module-keys), and submit the study under another name, for which it is compiled anew. If they "
            "have these keys, somebody else has written into the store: find out who can."
        )


def is_signed(result: JobResult, trusted: Collection[str]) -> bool:
    """Whether one of these keys has signed the result as it is."""
    return _fault(result, trusted) is None


def _fault(result: JobResult, trusted: Collection[str]) -> str | None:
    signature = result.signature
    if signature is None:
        return "it is not signed"
    if signature.signer not in trusted:
        return f"it is signed with the key {signature.signer[:12]}…, which is none that this worker was given"
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.signer)).verify(
            bytes.fromhex(signature.value), _statement(result)
        )
    except InvalidSignature:
        return "it is not what its signature was made for"
    return None


def _statement(result: JobResult) -> bytes:
    """The bytes that are signed."""
    said = result.model_dump(mode="json", include={"kind", "result_key", "outcome", "artifacts", "data"})
    return _WHAT + canonical_json(said)


def _read_signer(path: Path) -> Signer:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(_bytes(path), password=None)
    except (ValueError, TypeError) as error:  # the latter where it is encrypted
        raise _no_key(path, "private key without a passphrase") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(path, "private key for Ed25519")
    return Signer(key)


def _read_trusted(path: Path) -> tuple[str, ...]:
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        keys = [load_pem_public_key(one) for one in _PUBLIC.findall(_bytes(path))]
    except ValueError as error:
        raise _no_key(path, "public key that can be read") from error
    if not keys:
        raise _no_key(path, "public key")
    return tuple(_raw(key, path) for key in keys)


def _raw(key: object, path: Path) -> str:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(path, "public key for Ed25519 alone")
    return key.public_bytes_raw().hex()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"The key file {path} cannot be read ({error.strerror or error}). Name a file that is there and that this "
            f"user may read: --signing-key ({SIGNING_KEY}) for compilers, --module-keys ({MODULE_KEYS}) for all."
        ) from error


def _no_key(path: Path, what: str) -> InputError:
    return InputError(
        f"{path} holds no {what}, in PEM. `openssl genpkey -algorithm ed25519 -out signing.key` makes a private key, "
        "`openssl pkey -in signing.key -pubout -out signing.pub` its public half."
    )


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, and never for others to read."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    fresh.replace(path)
