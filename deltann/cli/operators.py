"""The operators that mutate, as ``deltann mutate --list`` tells them."""

from __future__ import annotations

from typing import Any

import typer

from deltann.cli.home import print_json
from deltann.mutation import OPERATORS, OperatorFacts

_WIDTH = max(map(len, OPERATORS))


def list_operators(json: bool) -> None:
    """Print every operator: a line each, or all that the table says."""
    if json:
        print_json([_row(name, facts) for name, facts in OPERATORS.items()])
        return
    for name, facts in OPERATORS.items():
        numbers = ", ".join(f"{key}={one.default:g}" for key, one in facts.parameters.items())
        typer.echo(f"{name:{_WIDTH}}  {facts.level:6}  {facts.what}" + (f" ({numbers})" if numbers else ""))


def _row(name: str, facts: OperatorFacts) -> dict[str, Any]:
    return {
        "name": name,
        "level": facts.level,
        "family": facts.family,
        "what": facts.what,
        "fits": facts.fits,
        "mutatenn": facts.mutatenn,
        "parameters": {
            key: {"default": one.default, "what": one.what, "least": one.least, "most": one.most}
            for key, one in facts.parameters.items()
        },
    }
