"""Options that several commands share, and where DeltaNN keeps what it makes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from deltann.errors import InputError


def default_home() -> Path:
    """``$DELTANN_HOME``, else ``~/.cache/deltann``: store, cache, logs and state of the embedded stack."""
    return _whole(Path(os.environ.get("DELTANN_HOME") or "~/.cache/deltann"))


def resolve_home(home: Path | None) -> Path:
    """The home that an option names, or the default."""
    return _whole(home) if home else default_home()


def _whole(path: Path) -> Path:
    try:
        whole = path.expanduser().absolute()
        str(whole).encode()
        return whole
    except (RuntimeError, OSError, UnicodeError) as error:  # no $HOME and no such user; a folder that is gone; no UTF-8
        raise InputError(
            f"The folder {path} cannot be used ({error}). Name one that is there: --home FOLDER, or DELTANN_HOME."
        ) from error


def refuse_trust(trust: bool, gateway: str | None) -> None:
    """Refuse ``--trust`` for work that is not done here.

    Raises:
        InputError: if a gateway is named too.
    """
    if trust and gateway:
        raise InputError(
            "--trust holds for this machine. Over a gateway only a study may name code, where its admins are trusted: "
            "use `deltann sweep run`, or leave out --trust or --gateway."
        )


def print_json(value: Any, indent: int | None = 2) -> None:
    """One JSON document on stdout, for scripts: ASCII, so that no terminal's language matters, and null for NaN."""
    plain = json.loads(json.dumps(value, default=_plain), parse_constant=lambda name: None)
    typer.echo(json.dumps(plain, indent=indent, allow_nan=False))


def _plain(item: Any) -> Any:
    if isinstance(item, BaseModel):
        return item.model_dump(mode="json")
    if isinstance(item, Path):
        return str(item)
    raise TypeError(f"{type(item).__name__} has no JSON form")


Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        help="Where store, cache and logs are kept; default $DELTANN_HOME or ~/.cache/deltann",
        file_okay=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text")]
Gateway = Annotated[
    str | None, typer.Option("--gateway", metavar="HOST:PORT", envvar="DELTANN_GATEWAY", help="Use this gateway")
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Allow models that run code of their own (module:function); a gateway asks who you are"
    ),
]
