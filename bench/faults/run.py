"""Put seeded faults into small networks and real models, one or more at a time, and count what is found and repaired.

    python -m bench.faults.run [--seeds 1] [--real] [--only WORD] [--out bench/faults/results.json]

Can be stopped and run again: cases that are in the results file are not done twice.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from deltann_converter.repair.agreement import Judge, answers
from deltann_converter.repair.localising import localise
from deltann_converter.repair.patch import apply_edits
from deltann_converter.repair.repairing import repair
from deltann_engines.describe import describe
from deltann_engines.graphs.onnx import OnnxGraph
from deltann_engines.parity import seeded_inputs

from bench.faults import real
from bench.faults.kinds import KINDS, Kind, beside
from bench.faults.nets import NETS
from bench.faults.real import REAL
from deltann.model import ModelInfo

OUT = Path(__file__).with_name("results.json")
INPUTS, REAL_INPUTS, SECONDS = 24, 8, 120
_REAL_KINDS = 14
"""Kinds that each real model is given alone."""
POSITIONS = ("early", "middle", "late")
SHOWS = 1e-5
"""A fault that moves the outputs by less cannot be seen."""


_UNDONE = {"attribute perm": ("input transposed",), "input transposed": ("attribute perm",)}
"""Kinds that can undo each other."""


@dataclass(frozen=True)
class Case:
    """One fault in one place, or several each in its own."""

    net: str
    faults: tuple[tuple[Kind, int], ...]
    position: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.net}/{' + '.join(kind.name for kind, _ in self.faults)}/{self.position}/{self.seed}"


def cases(seeds: int) -> Iterator[Case]:
    """Every kind in the first, the middle and the last place that it fits, of every network."""
    for seed in range(seeds):
        for net, build in NETS.items():
            model = build(seed)
            for kind in KINDS:
                places = _places(model, kind)
                for position, at in zip(POSITIONS, (0, len(places) // 2, -1), strict=True):
                    if places and (position == "early" or places[at] != places[0]):
                        if position == "late" and places[-1] == places[len(places) // 2]:
                            continue
                        yield Case(net, ((kind, places[at]),), position, seed)
            yield from _several(net, model, seed)


def real_cases() -> Iterator[Case]:
    """Of each real model some kinds, each in one place, and several at once: together every kind, early and late."""
    for number, net in enumerate(REAL):
        model = real.load(net)
        order = [KINDS[(at + number * _REAL_KINDS) % len(KINDS)] for at in range(len(KINDS))]
        fitting = [(kind, _places(model, kind)) for kind in order]
        fitting = [(kind, places) for kind, places in fitting if places][:_REAL_KINDS]
        for at, (kind, places) in enumerate(fitting):
            position = POSITIONS[(at + number) % len(POSITIONS)]
            place = {"early": places[0], "middle": places[len(places) // 2], "late": places[-1]}[position]
            yield Case(net, ((kind, place),), position, 0)
        yield from _several(net, model, 0, (2, 3))


def _places(model: Any, kind: Kind) -> list[int]:
    """Nodes that a kind fits, among those that depend on the input: a chain of constants is part of who reads it."""
    computing = {name for node in OnnxGraph(model).nodes for name in node.outputs}
    nodes = enumerate(model.graph.node)
    return [at for at, node in nodes if computing.intersection(node.output) and kind.fits(model, node)]


def _several(net: str, model: Any, seed: int, counts: Sequence[int] = (2, 2, 2, 3, 3)) -> Iterator[Case]:
    """Two and three faults of different kinds at different nodes, drawn by the seed."""
    random = np.random.default_rng([seed, 2])
    for count in counts:
        faults: dict[int, Kind] = {}
        while len(faults) < count:
            kind = KINDS[random.integers(len(KINDS))]
            places = _places(model, kind)
            if places and not {kind.name, *_UNDONE.get(kind.name, ())} & {one.name for one in faults.values()}:
                faults[int(random.choice(places))] = kind
        yield Case(net, tuple((kind, place) for place, kind in sorted(faults.items())), "several", seed)


def broken_by(case: Case, source: Any) -> tuple[Any, dict[Kind, set[str]]]:
    """The broken model, and what of it may be named for each kind."""
    edits, random = [], np.random.default_rng([case.seed, 1])
    for kind, place in case.faults:
        edits += kind.edits(source, source.graph.node[place], random)
    broken = apply_edits(source, edits)
    return broken, {kind: beside(source, broken, kind, source.graph.node[place]) for kind, place in case.faults}


def run(case: Case) -> dict[str, Any] | None:
    """What became of a case; None where the fault does not show."""
    began = time.monotonic()
    source = real.load(case.net) if case.net in REAL else NETS[case.net](case.seed)
    broken, named = broken_by(case, source)
    with tempfile.TemporaryDirectory() as folder:
        workdir = Path(folder)
        path = workdir / "source.onnx"
        onnx.save(source, path)
        info = describe(path, "onnx")
        xs = _inputs(case, info)
        looks = iter(range(1000))
        graph = OnnxGraph(source)

        def suspects(model: Any, position: int) -> list[Any]:
            return localise(graph, xs[position], model, xs[position], workdir / f"values{next(looks)}")

        judge = Judge(answers(path, info, xs), info, info, xs)
        onnx.save(broken, workdir / "broken.onnx")
        before = judge.of(workdir / "broken.onnx")
        if before.error <= SHOWS:
            return None
        found = suspects(broken, before.worst[0])
        done = repair(broken, judge, before, suspects, workdir, SECONDS)
    ranks = [
        next((rank for rank, one in enumerate(found) if one.output in names), len(found)) for names in named.values()
    ]
    at = {kind: found[rank] if rank < len(found) else None for kind, rank in zip(named, ranks, strict=True)}
    # of n faults the last should be at rank n: what is told is by how many ranks it is later, from 1 on
    rank = max(ranks) + 2 - len(named) if max(ranks) < len(found) else None
    return {
        "case": case.name,
        "rank": max(rank, 1) if rank is not None else None,
        "kind": all(one and one.stage == kind.stage and one.kind.startswith(kind.says) for kind, one in at.items()),
        "named": [f"{one.output}: {one.stage}: {one.kind}" for one in found[:3]],
        "differ": [len(before.differing), len(done.after.differing)],
        "error": [one.error if np.isfinite(one.error) else None for one in (before, done.after)],
        "repaired": not done.after.differing and done.after.error <= 1e-4,
        "improved": done.after.better(before),
        "worse": not done.after.better(before) and bool(done.edits),
        "steps": [f"{'kept' if step.kept else 'reverted'} {step.node}: {step.kind}" for step in done.steps],
        "stopped": done.stopped,
        "seconds": round(time.monotonic() - began, 2),
    }


def _inputs(case: Case, info: ModelInfo) -> np.ndarray:
    """Noise for small networks, smooth images for real ones; each a batch of 1."""
    if case.net in REAL:
        return seeded_inputs(info, REAL_INPUTS, case.seed)[:, None]
    shape = [INPUTS, *(side for side in info.input.shape if side is not None)]
    return np.random.default_rng(case.seed + 1).normal(size=shape).astype(np.float32)


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares of all cases, and how many were made worse."""
    n = max(len(found), 1)
    return {
        "cases": len(found),
        "rank1": round(sum(one["rank"] == 1 for one in found) / n, 4),
        "rank3": round(sum(one["rank"] is not None and one["rank"] <= 3 for one in found) / n, 4),
        "kind": round(sum(one["kind"] for one in found) / n, 4),
        "repaired": round(sum(one["repaired"] for one in found) / n, 4),
        "improved": round(sum(one["improved"] for one in found) / n, 4),
        "worse": sum(one["worse"] for one in found),
        "seconds_per_case": round(sum(one["seconds"] for one in found) / n, 2),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seeds", type=int, default=1)
    arguments.add_argument("--real", action="store_true", help="real models too, which takes longer")
    arguments.add_argument("--only", default="", help="cases with this in their name")
    arguments.add_argument("--out", type=Path, default=OUT)
    given = arguments.parse_args()
    state = json.loads(given.out.read_text()) if given.out.is_file() else {"cases": [], "hidden": []}
    known = {one["case"] for one in state["cases"]} | set(state["hidden"])
    for case in chain(cases(given.seeds), real_cases() if given.real else ()):
        if case.name in known or given.only not in case.name:
            continue
        found = run(case)
        if found is None:
            state["hidden"].append(case.name)
        else:
            state["cases"].append(found)
            good = found["rank"] == 1 and found["kind"] and found["repaired"]
            print("ok  " if good else "LOOK", case.name, found["rank"], found["named"], found["error"], flush=True)
        _write(given.out, {"summary": summary(state["cases"]), **{key: state[key] for key in ("hidden", "cases")}})
    print(json.dumps(summary(state["cases"])))


def _write(path: Path, state: dict[str, Any]) -> None:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(state, indent=1) + "\n")
    new.replace(path)


if __name__ == "__main__":
    main()
