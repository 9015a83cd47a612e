"""Reading studies: YAML in, a validated :class:`Study` out, and mistakes answered with where they are."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from deltann.errors import SpecError
from deltann.spec.checks import mistakes
from deltann.spec.mistakes import explain
from deltann.spec.models import Study
from deltann.spec.text import MAX_BYTES, read_yaml, too_large


def load_study(path: Path) -> Study:
    """Read a study from a YAML file.

    Raises:
        SpecError: if it is missing, is no YAML, or does not validate.
    """
    try:
        with path.open("rb") as file:  # a device tells no size
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise too_large(str(path))
        text = raw.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"The study {path} cannot be read: {error}. Name a YAML file; examples/ has some.") from error
    return parse_study(text, str(path))


def parse_study(text: str, where: str = "the study") -> Study:
    """Read a study from YAML (or JSON) text.

    Raises:
        SpecError: naming the path of each field, what was found and what is allowed.
    """
    data = read_yaml(text, where)
    if not isinstance(data, dict):
        raise SpecError(f"{where} holds {type(data).__name__}, not a study: begin it with 'schema: deltann.study/1'.")
    written = json.dumps(data)
    try:
        # As JSON, strictly: a list is a list, but neither `true` nor "1" is taken for the number 1.
        study = Study.model_validate_json(written, strict=True, by_name=False)
    except ValidationError as error:
        # Its keys are texts, as those in the error are; in YAML they may be numbers too.
        raise SpecError(f"{where} is not a valid study. {explain(error, json.loads(written))}") from error
    found = list(mistakes(study))
    if found:
        raise SpecError(f"{where} is not a valid study. {' '.join(found[:5])}")
    return study
