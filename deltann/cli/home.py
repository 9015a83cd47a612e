"""Options that several commands share, and where DeltaNN keeps what it makes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel


def default_home() -> Path:
    """``$DELTANN_HOME``, else ``~/.cache/deltann``: store, cache, logs and state of the embedded stack."""
    return Path(os.environ.get("DELTANN_HOME") or Path("~/.cache/deltann").expanduser()).absolute()


def resolve_home(home: Path | None) -> Path:
    """The home that an option names, or the default."""
    return home.expanduser().absolute() if home else default_home()


def print_json(value: Any) -> None:
    """One JSON document on stdout, for scripts."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    typer.echo(json.dumps(plain, indent=2, ensure_ascii=False, default=_plain))


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
    bool, typer.Option("--trust", help="Allow models that run code of their own (module:function) on this machine")
]
