"""What operators keep and sweeps leave: tokens, pools and reports, with any content."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from deltann_gateway.tokens import Tokens
from hypothesis import example, given
from hypothesis import strategies as st

from deltann.client.credentials import Credentials
from deltann.errors import InputError
from deltann.fleet.pools import read_pools
from deltann.report.read import read_report

from .harness import brief, hold, mutated

TOKENS = (
    f'- {{name: "ci", role: submit, sha256: "{"0" * 64}"}}\n- {{name: ops, role: admin, sha256: "{"a1" * 32}"}}\n'
).encode()
POOLS = b"""pools:
  cpu: {about: "x86-64 servers"}
  pi4: {about: "Raspberry Pi 4", requires: {arch: aarch64, features: [asimd], engines: [tvm, tflite], memory_mb: 900}}
"""
LAUGHS = b"a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n".encode() for n in range(1, 12)
)
READERS: dict[str, tuple[Callable[[Path], object], bytes]] = {
    "tokens": (Tokens, TOKENS),
    "pools": (read_pools, POOLS),
    "report": (read_report, b'{"schema": "deltann.report/1", "sweep": {"id": "s"}, "settings": {"k": 5}}'),
    "token": (lambda path: Credentials.from_environment({"DELTANN_TOKEN_FILE": str(path)}), b"deltann_abc\n"),
}
WORDS = st.text(st.sampled_from("[]{}:,-?&*!|>'\"%@ \n\také0.~\0\x1b\u2028"), max_size=60).map(str.encode)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("operators") / "file"


@pytest.mark.parametrize("reader", READERS)
def test_any_content(place: Path, reader: str) -> None:
    read, whole = READERS[reader]

    @brief(150)
    @given(st.one_of(st.binary(max_size=100), WORDS, mutated(whole)))
    @example(b"\xff\xfe")
    @example(b"[" * 20_000)
    @example(b"{" * 20_000)
    @example(b"- " * 20_000)
    @example(b"a: 2024-99-99")
    @example(b"9" * 10_000)
    @example(b"- 0b_\n- 1e99999\n- 0x_\n- 9:99:99")
    @example(b"&a [*a]")
    @example(LAUGHS)
    @example(b"pools: " + b"x" * 10_000)
    @example(b'pools: {"a\\nb": 1}')
    @example(b"pools: {" + b"k" * 10_000 + b": {}}")
    @example(b'- {name: "a\\nb", role: x, "k\\n": 1}')
    @example(b'{"' + b"k" * 10_000 + b'\\n": 1}')
    def fuzz(content: bytes) -> None:
        place.write_bytes(content)
        hold(lambda: read(place))

    fuzz()


@pytest.mark.parametrize("reader", ["tokens", "pools", "report"])
def test_a_folder_or_nothing_in_its_place(tmp_path: Path, reader: str) -> None:
    read, _ = READERS[reader]
    (tmp_path / "report.json").mkdir()
    for path in (tmp_path, tmp_path / "none", tmp_path / "report.json" / ".."):
        assert hold(lambda path=path: read(path)) is not None  # type: ignore[misc]


def test_a_digest_is_never_repeated(place: Path) -> None:
    place.write_text(json.dumps([{"name": "a", "role": "none", "sha256": "5ec4e7" * 10 + "0000"}]) + "]")
    with pytest.raises(InputError) as caught:
        Tokens(place)
    assert "5ec4e7" not in str(caught.value)
