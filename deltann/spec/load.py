"""Reading studies: YAML in, a validated :class:`Study` out, and mistakes answered with where they are."""

from __future__ import annotations

import difflib
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from deltann.errors import SpecError
from deltann.preprocess.recipes import NAMES
from deltann.preprocess.steps import Recipe
from deltann.spec.models import Study
from deltann.targets import NAMES as TARGETS

_SHOWN = 5
_MAX_BYTES = 4 << 20


def load_study(path: Path) -> Study:
    """Read a study from a YAML file.

    Raises:
        SpecError: if it is missing, is no YAML, or does not validate.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise SpecError(f"{path} has more than 4 MiB, which no study has. Name a study's YAML file.")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"The study {path} cannot be read: {error}. Name a YAML file; examples/ has some.") from error
    return parse_study(text, str(path))


def parse_study(text: str, where: str = "the study") -> Study:
    """Read a study from YAML (or JSON) text.

    Raises:
        SpecError: naming the path of each field, what was found and what is allowed.
    """
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise SpecError(f"{where} is not YAML: {' '.join(str(error).split())}.") from error
    if not isinstance(data, dict):
        raise SpecError(f"{where} holds {type(data).__name__}, not a study: begin it with 'schema: deltann.study/1'.")
    try:
        study = Study.model_validate(data)
    except ValidationError as error:
        details = error.errors()
        lines = [_explain(item, data) for item in details[:_SHOWN]]
        more = f" And {len(details) - _SHOWN} more." if len(details) > _SHOWN else ""
        raise SpecError(f"{where} is not a valid study. {' '.join(lines)}{more}") from error
    _check(study, where)
    return study


def _explain(item: ErrorDetails, data: dict[str, Any]) -> str:
    """One mistake as a sentence."""
    field = ".".join(str(part) for part in item["loc"]) or "study"
    if item["type"] == "extra_forbidden":
        name = str(item["loc"][-1])
        known = _fields_beside(item["loc"], data)
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"Allowed here: {', '.join(known)}."
        return f"{field}: there is no such field. {hint}"
    found = "" if item["type"] == "missing" else f", found {_short(item['input'])}"
    return f"{field}: {item['msg']}{found}."


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _fields_beside(location: tuple[int | str, ...], data: dict[str, Any]) -> list[str]:
    """The fields that the published schema allows at a location."""
    schema = Study.model_json_schema(by_alias=True)
    nodes = [schema]
    for part in location[:-1]:
        nodes = [child for node in nodes for child in _children(node, part, schema)]
    return sorted(
        {name for node in nodes for option in _options(node, schema) for name in option.get("properties", {})}
    )


def _children(node: dict[str, Any], part: int | str, schema: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for option in _options(node, schema):
        if isinstance(part, int) and isinstance(option.get("items"), dict):
            found.append(option["items"])
        elif part in option.get("properties", {}):
            found.append(option["properties"][part])
    return found


def _options(node: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """A schema node with references followed and alternatives opened."""
    if "$ref" in node:
        return _options(schema["$defs"][node["$ref"].rsplit("/", 1)[-1]], schema)
    options = [node]
    for word in ("anyOf", "oneOf", "allOf"):
        options += [option for alternative in node.get(word, []) for option in _options(alternative, schema)]
    return options


def _check(study: Study, where: str) -> None:
    """What no single field can tell."""
    names = [model.name for model in study.models]
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f"{where}: two models are called {name!r}. Give each entry of models a name of its own.")
    known = [*(recipe.name for recipe in study.recipes), *NAMES]
    for index, model in enumerate(study.models):
        own = (native.preprocessing for native in model.natives if native.preprocessing is not None)
        for wanted in (*model.preprocessing, *own):
            if not isinstance(wanted, Recipe) and wanted not in known:
                close = difflib.get_close_matches(wanted, known, n=1)
                hint = f"Did you mean {close[0]!r}? " if close else ""
                raise SpecError(
                    f"{where}: models.{index}.preprocessing: there is no recipe {wanted!r}. {hint}"
                    f"There are: {', '.join(known)}."
                )
    for index, chain in enumerate(study.conversions.chains):
        if len(chain) < 2 or any(a == b for a, b in pairwise(chain)):
            raise SpecError(
                f"{where}: conversions.chains.{index}: a chain names at least two frameworks, and no framework "
                f"twice in a row; found {list(chain)}."
            )
    for index, target in enumerate(study.compile.targets):
        if target not in TARGETS:
            raise SpecError(
                f"{where}: compile.targets.{index}: there is no target {target!r}. There are: {', '.join(TARGETS)}."
            )
    if study.compare.rbo_depth > study.compare.k:
        raise SpecError(
            f"{where}: compare.rbo_depth is {study.compare.rbo_depth}, deeper than the {study.compare.k} labels that "
            "compare.k keeps. Raise k or lower the depth."
        )
