"""A finding as a folder that shows it without DeltaNN: model, inputs, script, and what was used."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from deltann.kinds.bisect import Comparison, NamedNode, NamedPass
from deltann_compiler.bisect.candidate import BEFORE, LOWERED, STATE
from deltann_compiler.bisect.pipeline import Pipeline
from deltann_compiler.bisect.search import Part
from deltann_compiler.bisect.trials import Trials
from deltann_compiler.levels import Made

_USED = ("apache-tvm", "apache-tvm-ffi", "numpy", "onnx", "onnxruntime")
SCRIPT = "reproduce.py"
_PROGRAMS = Path(__file__).parent / "standalone"
_FILES = {
    "model.onnx": "the smallest part of the model that shows it",
    "inputs.npz": "input0, …: what it is fed; expected0, …: what ONNX Runtime answers, where it is held against that",
    "a.json": "what becomes of it without the passes",
    "b.json": "what becomes of it with them",
    "before.json": "what the pass that fails is given",
    "reproduce.json": "what reproduce.py reads: targets, tolerance",
    SCRIPT: "shows it; needs tvm and numpy, and onnx where it reads model.onnx",
}


@dataclass(frozen=True)
class Shows:
    """What a reproducer is to show.

    Args:
        a: the pipeline that it is held against; None where that is ONNX Runtime.
        b: the one that shows it.
    """

    comparison: Comparison
    part: Part
    a: Pipeline | None
    b: Pipeline
    passes: tuple[NamedPass, ...]
    nodes: tuple[NamedNode, ...]

    @property
    def what(self) -> str:
        """In a sentence or two."""
        nodes = ", ".join(f"{node.op_type} {node.name!r}" for node in self.nodes)
        did = " and ".join(one.name for one in self.passes)
        by = f" by {did}" if did else ", before any pass"
        how = "another answer" if self.part.shown.symptom == "differs" else str(self.part.shown.symptom)
        return f"{self.comparison.b} against {self.comparison.a}: {how}{by}.\n\nOn the nodes: {nodes}."


def write(shows: Shows, trials: Trials, tolerance: float, folder: Path) -> bool:
    """Write a reproducer, and run it.

    Returns:
        Whether it showed the finding.
    """
    folder.mkdir(parents=True)
    case = shows.part.case
    (folder / "model.onnx").write_bytes(case.model.read_bytes())
    with np.load(case.inputs, allow_pickle=False) as given:
        arrays = {f"input{name}": given[name][0] for name in given.files}
    if shows.a is None and isinstance(shows.part.right, tuple):
        arrays |= {f"expected{place}": one[0] for place, one in enumerate(shows.part.right)}
    named: dict[str, Any] = arrays
    np.savez(folder / "inputs.npz", **named)
    about = _about(shows, trials, tolerance, folder)
    if about is not None:
        (folder / "reproduce.json").write_text(json.dumps({"what": shows.what, **about}, indent=1))
        program = _PROGRAMS / ("failing.py" if "pass" in about else "comparing.py")
        (folder / SCRIPT).write_bytes(program.read_bytes())
    (folder / "README.txt").write_text(_readme(shows, tolerance, trials.target, folder))
    return about is not None and _run(folder, shows, trials.limit)


def _about(shows: Shows, trials: Trials, tolerance: float, folder: Path) -> dict[str, Any] | None:
    """What the script is told, once the modules that it reads are there; None where it could not name what fails."""
    made = trials.folder / f"kept-{folder.name}"
    a, b = made / "a", made / "b"
    made.mkdir()
    trials.build(shows.part.case, shows.b, b, keep=True)
    named = {"name": shows.comparison.a}, {"name": shows.comparison.b}
    if shows.a is None or not (b / STATE).exists():
        target = _state(b)["target"] if (b / STATE).exists() else {"kind": "llvm"}
        return {"tolerance": tolerance, "sides": [named[0], {**named[1], "module": "model.onnx", "target": target}]}
    if not (b / LOWERED).exists():
        (folder / BEFORE).write_bytes((b / BEFORE).read_bytes())
        left = (one.make for one in shows.b.passes[_state(b)["place"] :])
        one = next((make for make in left if make is not None), None)
        if not isinstance(one, Made):
            return None
        return {"target": _state(b)["target"], "pass": {"module": one.module, "name": one.name, "args": one.args}}
    trials.build(shows.part.case, shows.a, a, keep=True)
    sides = []
    for side, name, known, built in ((a, "a.json", named[0], shows.a), (b, "b.json", named[1], shows.b)):
        (folder / name).write_bytes((side / LOWERED).read_bytes())
        passes = [one.name for one in built.passes]
        sides.append({**known, "module": name, "target": _state(side)["target"], "passes": passes})
    return {"tolerance": tolerance, "sides": sides}


def _state(made: Path) -> dict[str, Any]:
    state: dict[str, Any] = json.loads((made / STATE).read_text())
    return state


def _run(folder: Path, shows: Shows, limit_s: float) -> bool:
    symptom = shows.part.shown.symptom
    try:
        done = subprocess.run(
            [sys.executable, SCRIPT], cwd=folder, timeout=limit_s, capture_output=True, text=True, check=False
        )
    except subprocess.TimeoutExpired:
        return symptom == "timed_out"
    print(f"{folder.name}/{SCRIPT} ended with {done.returncode}", done.stdout[-2000:], done.stderr[-2000:], sep="\n")
    if symptom == "crashed":
        return done.returncode not in (0, 1)
    return done.returncode == 1 and ("it differs" in done.stdout) == (symptom == "differs")


def _readme(shows: Shows, tolerance: float, target: str, folder: Path) -> str:
    shown = shows.part.shown
    lines = [
        shows.what,
        "",
        f"Relative error {max(shown.errors):.3g}, tolerance {tolerance:.3g}." if shown.errors else shown.message,
        f"Target {target} on {platform.machine()}, Python {platform.python_version()}, {_versions()}.",
        "",
        *(f"{name:16}{what}" for name, what in _FILES.items() if (folder / name).exists()),
    ]
    if not (folder / SCRIPT).exists():
        lines.append("There is no script: what fails is no pass that has a name in TVM.")
    return "\n".join(lines) + "\n"


def _versions() -> str:
    found = []
    for name in _USED:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)
