"""The study that ``deltann mutate MODEL --operators …`` asks for: all mutants of one model, in every build."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltann.mutation import Positions
from deltann.spec.load import parse_study
from deltann.spec.models import Study

LEVELS_OF_OPERATORS = ("all", "graph", "relax", "kernel")
_PREPARED = "tf"
_AS_IT_IS = "none"


@dataclass(frozen=True)
class Wanted:
    """What the options say, as they were written; lists of names may be joined by commas."""

    model: str
    framework: str | None
    operators: Sequence[str]
    parameters: dict[str, float]
    at: Positions
    singles: int | None
    data: str
    limit: int | None
    preprocess: str | None
    targets: Sequence[str]
    opts: Sequence[str]
    engines: Sequence[str]
    pools: Sequence[str]


def mutant_study(wanted: Wanted) -> Study:
    """The study, without timings.

    Raises:
        SpecError: naming what of it there is not.
    """
    native = {"source": wanted.model} | ({"framework": wanted.framework} if wanted.framework else {})
    prepared = wanted.preprocess or (_AS_IT_IS if wanted.data.endswith(".npz") else _PREPARED)
    name = _slug(wanted.model)
    study = {
        "schema": "deltann.study/1",
        "name": f"{name}-mutants",
        "models": [{"name": name, "natives": [native], "preprocessing": [prepared]}],
        "data": {"source": wanted.data} | ({"limit": wanted.limit} if wanted.limit else {}),
        "engines": _each(wanted.engines),
        "compile": {"levels": [_number(one) for one in _each(wanted.opts)], "targets": _each(wanted.targets)},
        "pools": _each(wanted.pools),
        "timing": None,
        "mutations": list(_mutations(wanted)),
    }
    return parse_study(json.dumps(study), "What these options ask for")


def _mutations(wanted: Wanted) -> Iterator[dict[str, Any]]:
    """An entry for all names together, and one for each level of operators."""
    every = _each(wanted.operators)
    names = [one for one in every if one not in LEVELS_OF_OPERATORS]
    places: dict[str, Any] = {}
    if wanted.at != Positions():
        places["at"] = [wanted.at.model_dump(exclude_defaults=True)]
    if wanted.singles is not None:
        places["singles"] = wanted.singles
    for operators in ([names] if names else []) + [one for one in every if one in LEVELS_OF_OPERATORS]:
        yield {"operators": operators, "parameters": wanted.parameters, **places}


def _each(given: Sequence[str]) -> list[str]:
    """Names, one by one; TVM's JSON of a target has commas of its own."""
    return [name.strip() for text in given for name in ([text] if text.lstrip().startswith("{") else text.split(","))]


def _number(level: str) -> int | str:
    return int(level) if level.isdecimal() else level


def _slug(model: str) -> str:
    """What the model is called in the report: its file's name, in letters that a name may have."""
    stem = Path(model).stem if Path(model).suffix else Path(model).name
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-._")[:48] or "model"
