from __future__ import annotations

import hashlib
import hmac
import logging
from pathlib import Path

import pytest
from deltann_gateway.tokens import Role, Tokens, new_token

from deltann.errors import InputError


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_roles_contain_one_another() -> None:
    assert Role.READ < Role.SUBMIT < Role.ADMIN


@pytest.mark.parametrize("role", ["read", "submit", "admin"])
@pytest.mark.parametrize("name", ["ci", "on", "1.5", "null", "a-b_c.d"])
def test_a_new_token_is_known_by_its_line_alone(tmp_path: Path, name: str, role: str) -> None:
    token, line = new_token(name, role)
    assert token not in line
    assert hashlib.sha256(token.encode()).hexdigest() in line
    found = Tokens(write(tmp_path / "t", line)).holder(token)
    assert found is not None
    assert (found.name, found.role.name.lower()) == (name, role)


def test_tokens_differ_and_are_not_guessed() -> None:
    tokens = {new_token("a", "read")[0] for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) >= 40 for token in tokens)


def test_a_wrong_token_is_nobodys_and_every_entry_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, line = new_token("first", "admin")
    tokens = Tokens(write(tmp_path / "t", line, new_token("second", "read")[1], new_token("third", "read")[1]))
    compared: list[str] = []
    real = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: bool(compared.append(a)) or real(a, b))
    assert tokens.holder(first) is not None
    assert len(compared) == 3
    for wrong in ("", "x", first[:-1], first + "x", first.upper(), hashlib.sha256(first.encode()).hexdigest()):
        assert tokens.holder(wrong) is None
    assert len(compared) == 3 * 7


@pytest.mark.parametrize(("name", "role"), [("", "read"), ("a b", "read"), ("x" * 65, "read"), ("a\n", "read")])
def test_a_name_that_cannot_be_is_refused(name: str, role: str) -> None:
    with pytest.raises(InputError, match="needs a name"):
        new_token(name, role)


@pytest.mark.parametrize("role", ["", "root", "1", "READ ME"])
def test_a_role_that_there_is_not_is_refused(role: str) -> None:
    with pytest.raises(InputError, match="read, submit or admin"):
        new_token("a", role)


SHA = "0" * 64


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "just text",
        "[",
        "- 1",
        f"- {{name: a, role: read, sha256: '{SHA[1:]}'}}",
        f"- {{name: a, role: owner, sha256: '{SHA}'}}",
        f"- {{name: a, role: 3, sha256: '{SHA}'}}",
        "- {name: a, role: read, token: hunter2}",
        f"- {{name: a, role: read, sha256: '{SHA}'}}\n- {{name: a, role: admin, sha256: '{SHA}'}}",
        "!!python/object/apply:os.system [true]",
    ],
)
def test_a_file_that_is_none_is_told_without_what_it_holds(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="deltann-gateway token") as caught:
        Tokens(write(tmp_path / "tokens.yaml", text))
    assert "tokens.yaml" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert SHA not in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        Tokens(tmp_path / "none")


def test_the_file_is_read_anew_and_a_broken_one_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (old, old_line), (new, new_line) = new_token("old", "read"), new_token("new", "admin")
    path = write(tmp_path / "t", old_line)
    tokens = Tokens(path)
    replace(path, new_line)
    assert tokens.holder(old) is None
    assert tokens.holder(new) is not None
    replace(path, "- broken")
    with caplog.at_level(logging.ERROR):
        assert tokens.holder(new) is not None
    assert "stay as they were" in caplog.text
    path.unlink()
    assert tokens.holder(new) is not None


def replace(path: Path, line: str) -> None:
    fresh = write(path.with_suffix(".new"), line)
    fresh.replace(path)
