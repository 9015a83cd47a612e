"""Keys as openssl makes them, and what a signature holds together."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltann.artifact import ArtifactRef
from deltann.errors import InputError, UnsignedError
from deltann.job import JobResult
from deltann.outcome import Outcome
from deltann.service import Kind, Service
from deltann.signing import Signer, check_signed, is_signed, make_keys, read_keys
from deltann.worker.main import keys_of

MODULE = ArtifactRef(digest="a" * 64, size=10, name="module.so")
RESULT = JobResult(
    kind="compile",
    result_key="1" * 64,
    outcome=Outcome.OK,
    artifacts={"module": MODULE},
    data={"target": {"kind": "llvm", "mcpu": "znver4"}, "cpu_seconds": 0.1, "passes": ["FoldConstant"]},
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abé\0", max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def openssl(*arguments: str | Path) -> bytes:
    return subprocess.run(["openssl", *arguments], check=True, capture_output=True).stdout


def pair(folder: Path, name: str = "signing") -> tuple[Path, Path]:
    """What docs and deploy/secrets.sh tell people to do."""
    private, public = folder / f"{name}.key", folder / f"{name}.pub"
    openssl("genpkey", "-algorithm", "ed25519", "-out", private)
    openssl("pkey", "-in", private, "-pubout", "-out", public)
    return private, public


def signer_of(private: Path) -> Signer:
    signer = read_keys(private, None).signer
    assert signer is not None
    return signer


def test_what_a_key_of_openssl_signs_its_public_half_takes(tmp_path: Path) -> None:
    private, public = pair(tmp_path)
    signed = signer_of(private).signed(RESULT)
    trusted = read_keys(None, public).trusted
    assert trusted == (signer_of(private).public,)
    check_signed(signed, trusted)
    assert signed.model_copy(update={"signature": None}) == RESULT


def test_while_keys_are_changed_both_are_taken(tmp_path: Path) -> None:
    (old, old_public), (new, new_public), (other, _) = (pair(tmp_path, name) for name in ("old", "new", "other"))
    both = tmp_path / "both.pub"
    both.write_bytes(b"the old one\n" + old_public.read_bytes() + b"\n" + new_public.read_bytes())
    trusted = read_keys(None, both).trusted
    assert [is_signed(signer_of(key).signed(RESULT), trusted) for key in (old, new, other)] == [True, True, False]


def test_a_compiler_takes_what_it_signs_itself_too(tmp_path: Path) -> None:
    (own, _), (_, other_public) = pair(tmp_path, "own"), pair(tmp_path, "other")
    keys = read_keys(own, other_public)
    assert keys.signer is not None
    assert keys.trusted == (keys.signer.public, *read_keys(None, other_public).trusted)


CHANGES: dict[str, dict[str, Any]] = {
    "the module": {"artifacts": {"module": MODULE.model_copy(update={"digest": "b" * 64})}},
    "its name": {"artifacts": {"module": MODULE.model_copy(update={"name": "other.so"})}},
    "its packing": {"artifacts": {"module": MODULE.model_copy(update={"packing": "tar"})}},
    "one more": {"artifacts": {"module": MODULE, "more": MODULE}},
    "what it is for": {"data": {**RESULT.data, "target": {"kind": "cuda"}}},
    "whose result it is": {"result_key": "2" * 64},
    "how it ended": {"outcome": Outcome.COMPILE_FAILED},
    "its kind": {"kind": "import"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_of_a_signed_result_can_be_changed(tmp_path: Path, change: dict[str, Any]) -> None:
    signer = signer_of(pair(tmp_path)[0])
    changed = signer.signed(RESULT).model_copy(update=change)
    with pytest.raises(UnsignedError, match="it is not what its signature was made for"):
        check_signed(changed, (signer.public,))


def test_each_refusal_is_one_paragraph_that_says_what_to_do(tmp_path: Path) -> None:
    signer, other = signer_of(pair(tmp_path, "a")[0]), signer_of(pair(tmp_path, "b")[0])
    spoilt = signer.signed(RESULT)
    assert spoilt.signature is not None
    bits = bytearray.fromhex(spoilt.signature.value)
    bits[5] ^= 1
    spoilt = spoilt.model_copy(update={"signature": spoilt.signature.model_copy(update={"value": bits.hex()})})
    found = []
    for result in (RESULT, other.signed(RESULT), spoilt):
        with pytest.raises(UnsignedError, match=r"--signing-key.*--module-keys") as caught:
            check_signed(result, (signer.public,))
        found.append(str(caught.value))
    assert "it is not signed" in found[0]
    assert f"signed with the key {other.public[:12]}…, which is none that this worker was given" in found[1]
    assert "not what its signature was made for" in found[2]
    assert not any("\n" in text for text in found)


@settings(max_examples=200, deadline=None)
@given(data=st.dictionaries(st.text("ab", max_size=2), JSON, max_size=3))
def test_a_signature_outlives_the_way_through_the_store(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any]
) -> None:
    signer = signer_of(make_keys(tmp_path_factory.getbasetemp() / "keys")[0])
    signed = signer.signed(RESULT.model_copy(update={"data": data}))
    check_signed(JobResult.model_validate_json(signed.model_dump_json()), (signer.public,))


def test_keys_that_are_made_are_for_this_user_alone_and_stay(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = make_keys(tmp_path / "home" / "keys")
    finally:
        os.umask(before)
    assert {file.stat().st_mode & 0o777 for file in made} == {0o600}
    assert made[0].parent.stat().st_mode & 0o777 == 0o700
    content = [file.read_bytes() for file in made]
    made[1].unlink()
    assert make_keys(tmp_path / "home" / "keys") == made
    assert [file.read_bytes() for file in made] == content
    assert openssl("pkey", "-in", made[0], "-pubout") == content[1]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        (b"", "holds no private key"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "holds no private key"),
        ("rsa", "holds no private key for Ed25519"),
        ("encrypted", "private key without a passphrase"),
        ("public", "holds no private key"),
    ],
)
def test_a_file_that_holds_no_private_key_is_said_to_be_one(tmp_path: Path, content: object, words: str) -> None:
    file = tmp_path / "file"
    if content == "rsa":
        openssl("genpkey", "-algorithm", "rsa", "-out", file)
    elif content == "encrypted":
        openssl("genpkey", "-algorithm", "ed25519", "-aes128", "-pass", "pass:x", "-out", file)
    elif content == "public":
        file = pair(tmp_path)[1]
    elif isinstance(content, bytes):
        file.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        read_keys(file, None)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        (b"no keys\n", "holds no public key"),
        (b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "holds no public key that can be read"),
        ("rsa", "public key for Ed25519 alone"),
        ("private", "holds no public key"),
    ],
)
def test_a_file_that_holds_no_public_keys_is_said_to_be_one(tmp_path: Path, content: object, words: str) -> None:
    file = tmp_path / "file"
    if content == "rsa":
        openssl("genpkey", "-algorithm", "rsa", "-out", tmp_path / "rsa.key")
        openssl("pkey", "-in", tmp_path / "rsa.key", "-pubout", "-out", file)
    elif content == "private":
        file = pair(tmp_path)[0]
    elif isinstance(content, bytes):
        file.write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_keys(None, file)


def service(*, signed: bool) -> Service:
    kind = Kind(name="make", params=JobResult, handler="none:none", failure=Outcome.CRASHED, signed=signed)
    return Service("maker", (kind,))


def test_no_service_but_a_compiler_reads_the_private_key(tmp_path: Path) -> None:
    private, public = pair(tmp_path)
    keys = keys_of(service(signed=False), private, public)
    assert keys.signer is None
    assert keys.trusted == read_keys(None, public).trusted
    assert keys_of(service(signed=True), private, None).signer is not None
    assert keys_of(service(signed=True), None, None).trusted == ()


def test_a_compiler_that_could_make_nothing_of_use_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs a key to sign with as well, --signing-key"):
        keys_of(service(signed=True), None, pair(tmp_path)[1])


def test_an_executor_that_takes_anything_is_told_so_in_its_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    executor = Service("executor", (), runtimes={"onnxruntime": ("onnxruntime",)})
    keys_of(executor, None, pair(tmp_path)[1])
    keys_of(service(signed=True), None, None)
    assert caplog.messages == []
    keys_of(executor, None, None)
    (told,) = caplog.messages
    assert "executes whatever the store holds" in told
    assert "--module-keys (DELTANN_MODULE_KEYS)" in told
