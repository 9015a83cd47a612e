"""One search: what is right, TVM without passes, and the two builds, each held against the one before it."""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from deltann_engines.graphs.onnx import load_session

from deltann.errors import JobFailure
from deltann.kinds.bisect import BisectParams, Comparison, Finding, NamedPass
from deltann.kinds.compile import CompileParams
from deltann.outcome import Outcome
from deltann_compiler.bisect import reproducer
from deltann_compiler.bisect.minimise import Minimised
from deltann_compiler.bisect.pipeline import Change, Pipeline, bare, changed, changes, pipeline
from deltann_compiler.bisect.search import Search
from deltann_compiler.bisect.subgraph import Parts
from deltann_compiler.bisect.trials import Answer, Case, Failure, Shown, Trials, held

RIGHT, BARE = "ONNX Runtime", "TVM without passes"


@dataclass(frozen=True)
class Side:
    """A build of the whole model, or ONNX Runtime, which has no pipeline; and what it answers."""

    name: str
    pipeline: Pipeline | None
    answer: Answer


@dataclass
class Bisection:
    """One job's search.

    Args:
        params: of the job.
        trials: runs the builds.
        folder: for reproducers.
        inputs: each a batch of 1.
        positions: of the inputs in the data.
        kind: of the target.
        model: ``onnx.ModelProto`` of known shapes.
        whole: the model with all inputs.
    """

    params: BisectParams
    trials: Trials
    folder: Path
    inputs: Sequence[np.ndarray]
    positions: Sequence[int]
    kind: str
    model: Any
    whole: Case

    def run(self) -> tuple[list[Comparison], list[Finding]]:
        """Each side against the one before it that has an answer, and what was found where they part."""
        until = time.monotonic() + self.params.seconds
        comparisons, findings = [], []
        before: Side | None = None
        for side in self._sides():
            if before is not None:
                shown = held(before.answer, side.answer, self.params.tolerance)
                assert shown is not None, "what is held against has an answer"
                comparison = self._comparison(before, side, shown)
                comparisons.append(comparison)
                if shown.symptom is not None:
                    findings.append(self._finding(comparison, before, side, shown, until))
            if isinstance(side.answer, Failure):
                break
            before = side
        return comparisons, findings

    def _sides(self) -> Iterator[Side]:
        """From what is right to what is asked; what changes nothing is left out."""
        yield Side(RIGHT, None, self._right())
        a, b = (pipeline(one.wanted(self.params.target), self.kind) for one in (self.params.a, self.params.b))
        least = self._least()
        done = set()
        for name, built in ((BARE, least), (self.params.a.name, a), (self.params.b.name, b)):
            if built not in done:
                done.add(built)
                yield Side(name, built, self.trials.answer(self.whole, built))

    def _least(self) -> Pipeline:
        """TVM without passes; where a model needs level 0 in order to be built, that."""
        least, plain = bare(self.kind), pipeline(CompileParams(level=0, schedule="naive"), self.kind)
        if not isinstance(self.trials.answer(self.whole, least), Failure):
            return least
        return least if isinstance(self.trials.answer(self.whole, plain), Failure) else plain

    def _right(self) -> Answer:
        try:
            session = load_session(self.model)
            name = session.get_inputs()[0].name
            rows = [session.run(None, {name: x}) for x in self.inputs]
        except Exception as error:
            message = f"ONNX Runtime cannot run it on these inputs: {' '.join(str(error).split())[:300]}"
            raise JobFailure(Outcome.RUN_FAILED, "run", message) from error
        return tuple(np.stack(column) for column in zip(*rows, strict=True))

    def _parts(self, x: np.ndarray) -> Parts | None:
        """The model in parts; None where it cannot be run node by node, as with sequences between nodes."""
        try:
            return Parts(self.model, x)
        except Exception:
            traceback.print_exc()
            return None

    def _comparison(self, a: Side, b: Side, shown: Shown) -> Comparison:
        worst = max(shown.errors, default=float("inf"))
        return Comparison(
            a=a.name,
            b=b.name,
            n=len(self.inputs),
            differing=tuple(
                self.positions[place] for place, far in enumerate(shown.errors) if far > self.params.tolerance
            ),
            error=worst if np.isfinite(worst) else None,
            symptom=shown.symptom,
            message=shown.message,
        )

    def _finding(self, comparison: Comparison, a: Side, b: Side, shown: Shown, until: float) -> Finding:
        assert shown.symptom is not None
        assert b.pipeline is not None
        worst = int(np.argmax(shown.errors)) if shown.errors else 0
        search = Search(self.trials, self.params.tolerance, shown.symptom, until)
        x = self.inputs[worst]
        needed: Minimised[Change] = Minimised((), minimal=True)
        avoiding: tuple[Change, ...] = ()
        built = b.pipeline
        if a.pipeline is not None:
            case = self.whole if len(self.inputs) == 1 else self.trials.case(self.model, [x[None]])
            some = changes(a.pipeline, b.pipeline, self.kind)
            needed = search.passes(case, a.pipeline, some)
            avoiding = search.avoiding(case, a.pipeline, some, needed.kept)
            built = changed(a.pipeline, needed.kept)
        parts = self._parts(x)
        part = search.nodes(parts, a.pipeline, built) if parts else None
        passes = tuple(NamedPass(name=one.name, joins=one.joins) for one in needed.kept)
        nodes = tuple(parts.named(node) for node in part.nodes) if parts and part else ()
        name = "importer" if a.pipeline is None else re.sub(r"[^\w.+-]+", "-", b.name)
        reproduced = False
        if part is not None:
            shows = reproducer.Shows(comparison, part, a.pipeline, built, passes, nodes)
            reproduced = reproducer.write(shows, self.trials, self.params.tolerance, self.folder / name)
        alone = max(part.shown.errors, default=float("inf")) if part else float("inf")
        return Finding(
            comparison=comparison,
            position=self.positions[worst],
            passes=passes,
            avoided_by=tuple(one.name for one in avoiding),
            nodes=nodes,
            alone=alone if np.isfinite(alone) else None,
            minimal=part is not None and part.minimal and needed.minimal,
            reproducer=name if part else "",
            reproduced=reproduced,
        )
