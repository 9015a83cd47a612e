from __future__ import annotations

import json
from contextlib import nullcontext

import pytest

from deltann.errors import ModelError
from deltann.modelfile import inspect


@pytest.mark.parametrize(
    ("kind", "lost", "words"),
    [
        ("keras", "config.json", "no config.json"),
        ("keras", "metadata.json", "no metadata.json"),
        ("keras", "model.weights.h5", "no model.weights.h5"),
        ("pt2", "m/archive_version", "no archive_version"),
        ("pt2", "m/models/model.json", "without an exported program"),
        ("old pt2", "version", "no version"),
        ("torchscript", "m/code/__torch__/m.py", "no code/"),
        ("torchscript", "m/data.pkl", "no data.pkl"),
        ("torch.save", "m/data.pkl", "no known kind"),
    ],
)
def test_an_archive_without_what_its_kind_needs_is_refused(archive, members, kind, lost, words):
    path = archive("m.zip", **{name: content for name, content in members[kind].items() if name != lost})
    with pytest.raises(ModelError, match=words):
        inspect(path, "m.zip")


@pytest.mark.parametrize(
    ("kind", "member", "content", "words"),
    [
        ("keras", "config.json", b"{", "no JSON"),
        ("keras", "config.json", b"[" * 100_000, "no JSON"),
        ("keras", "metadata.json", b"\xff", "no JSON"),
        ("keras", "model.weights.h5", b"x", "no HDF5"),
        ("pt2", "m/archive_format", b"other", "another kind"),
    ],
)
def test_a_member_that_is_not_what_it_should_be_is_named(archive, members, kind, member, content, words):
    with pytest.raises(ModelError, match=words):
        inspect(archive("m.zip", **{**members[kind], member: content}), "m.zip")


def test_what_torch_save_wrote_is_refused_with_why(archive, members):
    with pytest.raises(ModelError, match=r"saved by torch\.save.*runs whatever code.*torch\.export\.save"):
        inspect(archive("m.pt", **members["torch.save"]), "m.pt")


def test_a_keras_file_that_holds_code_is_refused_but_not_for_its_loss(archive, members):
    code = {"class_name": "__lambda__", "config": {"code": "4wEAAAA="}}
    for config, whole in (({"compile_config": {"loss": code}}, True), ({"config": {"layers": [code]}}, False)):
        path = archive("m.keras", **{**members["keras"], "config.json": json.dumps(config).encode()})
        with nullcontext() if whole else pytest.raises(ModelError, match=r"Python code \(a Lambda layer\).*export"):
            assert inspect(path, "m.keras").format == "keras"


def test_members_that_lie_elsewhere_are_refused(archive, members):
    path = archive("m.keras", **members["keras"])
    content = path.read_bytes()
    path.write_bytes(content.replace(b"PK\x03\x04", b"PK\x00\x00", 1))
    with pytest.raises(ModelError, match="damaged archive"):
        inspect(path, "m.keras")
