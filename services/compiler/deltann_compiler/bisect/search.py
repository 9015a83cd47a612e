"""Where two answers part: first by which passes, then on which part of the graph."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from deltann.kinds.bisect import Symptom
from deltann.layers.graph import Node
from deltann_compiler.bisect.minimise import Minimised, OutOfTimeError, minimise
from deltann_compiler.bisect.pipeline import Change, Pipeline, changed
from deltann_compiler.bisect.subgraph import CannotCutError, Parts
from deltann_compiler.bisect.trials import Answer, Case, Shown, Trials, held


@dataclass(frozen=True)
class Part:
    """The nodes that show it, as a case of their own, what is right there, and what is shown against that."""

    nodes: tuple[Node, ...]
    minimal: bool
    case: Case
    right: Answer
    shown: Shown


@dataclass
class Search:
    """What one build shows against another, or against ONNX Runtime, is looked for until it is small.

    Args:
        trials: runs the builds.
        tolerance: up to which two answers are the same.
        symptom: what is looked for; another one is another matter.
        until: on the monotonic clock, when nothing is tried any more.
    """

    trials: Trials
    tolerance: float
    symptom: Symptom
    until: float

    def shows(self, shown: Shown | None) -> bool:
        """Whether that is what is looked for."""
        return shown is not None and shown.symptom == self.symptom

    def passes(self, case: Case, a: Pipeline, some: Sequence[Change]) -> Minimised[Change]:
        """The changes that are needed in order to see it."""
        right = self.trials.answer(case, a)

        def asked(subset: tuple[Change, ...]) -> bool:
            return self.shows(held(right, self._answer(case, changed(a, subset)), self.tolerance))

        return minimise(some, asked)

    def avoiding(self, case: Case, a: Pipeline, some: Sequence[Change], needed: Sequence[Change]) -> tuple[Change, ...]:
        """The needed changes of levels without which, each by itself, all others together do not show anything."""
        right = self.trials.answer(case, a)
        found = []
        for one in (one for one in needed if one.avoidable):
            left = changed(a, (other for other in some if other != one))
            try:
                shown = held(right, self._answer(case, left), self.tolerance)
            except OutOfTimeError:
                break
            if shown is not None and shown.symptom is None:
                found.append(one)
        return tuple(found)

    def nodes(self, parts: Parts, a: Pipeline | None, b: Pipeline) -> Part | None:
        """The smallest part of a graph on which b shows it against a; where that is None, against ONNX Runtime.

        Returns:
            None where not even the whole of it does.
        """
        found: dict[tuple[Node, ...], Part] = {}

        def asked(subset: tuple[Node, ...]) -> bool:
            part = self._part(parts, subset, a, b)
            if part is not None:
                found[subset] = part
            return part is not None

        small = minimise(parts.nodes, asked)
        try:
            if small.kept not in found and not asked(small.kept):
                return None
        except OutOfTimeError:
            return None
        return replace(found[small.kept], minimal=small.minimal)

    def _answer(self, case: Case, built: Pipeline) -> Answer:
        if time.monotonic() > self.until:
            raise OutOfTimeError
        return self.trials.answer(case, built)

    def _part(self, parts: Parts, nodes: tuple[Node, ...], a: Pipeline | None, b: Pipeline) -> Part | None:
        try:
            model, inputs, outputs = parts.model(nodes)
        except CannotCutError:
            return None
        case = self.trials.case(model, [value[None] for value in inputs])
        right = tuple(value[None] for value in outputs) if a is None else self._answer(case, a)
        shown = held(right, self._answer(case, b), self.tolerance)
        if shown is None or not self.shows(shown):
            self.trials.forget(case)
            return None
        return Part(nodes, False, case, right, shown)
