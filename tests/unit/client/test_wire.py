from __future__ import annotations

import pytest
from deltann.v1 import artifact_pb2 as pb
from hypothesis import given
from hypothesis import strategies as st

from deltann.artifact import ArtifactRef
from deltann.client.channel import connect
from deltann.client.wire import artifact_message, artifact_ref
from deltann.errors import InputError

NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1).filter(
    lambda name: name not in (".", "..")
)


@given(st.binary(min_size=32, max_size=32), st.integers(0, 2**62), NAMES, st.sampled_from(["file", "tar"]))
def test_a_reference_survives_the_way_there_and_back(digest: bytes, size: int, name: str, packing: str) -> None:
    ref = ArtifactRef.model_validate({"digest": digest.hex(), "size": size, "name": name, "packing": packing})
    there = pb.Artifact.FromString(artifact_message(ref).SerializeToString())
    assert artifact_ref(there) == ref


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/etc/passwd", "a\0b"])
def test_a_name_that_is_a_path_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="plain file name"):
        artifact_ref(pb.Artifact(sha256="0" * 64, name=name))


@pytest.mark.parametrize("digest", ["", "0" * 63, "G" * 64, "../../x"])
def test_a_digest_that_is_none_is_refused(digest: str) -> None:
    with pytest.raises(InputError, match="SHA-256"):
        artifact_ref(pb.Artifact(sha256=digest, name="x"))


@pytest.mark.parametrize("address", ["", "localhost", "localhost:", ":50051", "host:port", "host:0", "host:70000"])
def test_an_address_without_host_and_port_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="HOST:PORT"):
        connect(address)
