"""Plans by the name of a study: its jobs lie in a file, since a gateway admits no place in a study to hide them in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deltann_arithmetic import _graph

from deltann.job import JobResult, Plan
from deltann.spec.models import Study


class FilePlanner:
    """Reads the calls of ``Graph.job`` from ``<folder>/<name>.json``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def sweep_id(self, study: Study) -> str:
        return f"{study.name}-1"

    def resolve(self, study: Study) -> Plan:
        return _graph([["add", 1.0]])

    def sweep(self, study: Study, results: Mapping[int, JobResult]) -> Plan:
        return _graph(json.loads((self._folder / f"{study.name}.json").read_text()))


def study(name: str) -> Study:
    model: dict[str, Any] = {"name": "m", "natives": [{"source": "efficientnet_lite0"}], "preprocessing": ["tf"]}
    return Study.model_validate(
        {"schema": "deltann.study/1", "name": name, "models": [model], "data": {"source": "foolbox:imagenet"}}
    )
