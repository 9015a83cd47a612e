"""Both sides of a conversion, ready to be held against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from deltann_engines.graphs import Graph, open_graph

from deltann.artifact import ArtifactRef
from deltann.errors import DataError, JobFailure, first_line
from deltann.kinds.repair import LocalizeParams
from deltann.model import ModelInfo
from deltann.outcome import Outcome
from deltann.preprocess.shards import shard_inputs
from deltann.preprocess.steps import Recipe
from deltann.service import JobContext
from deltann_converter.repair.agreement import SOUND, Judge, Judged, answers
from deltann_converter.repair.followed import Followed, follow
from deltann_converter.repair.localising import Located, locate


@dataclass(frozen=True)
class Side:
    """One model: where it lies, its description, and the inputs as it takes them, each a batch of 1."""

    path: Path
    info: ModelInfo
    inputs: Sequence[np.ndarray]


class Pair:
    """A source, a target, and what they answer. A target that is no ONNX is followed in ONNX.

    Raises:
        JobFailure: ``repair_failed``, where the two cannot be held against each other.
    """

    def __init__(self, params: LocalizeParams, context: JobContext) -> None:
        import torchvision  # noqa: F401  (has to come before TensorFlow, which either side may import)

        self._params, self._context = params, context
        self.source = self._side("source", params.source_info, params.source_recipe)
        self.target = self._side("target", params.target_info, params.target_recipe)
        self.workdir, self._looks = context.workdir, 0
        self.expected = self._right_answers()
        self.judged = Judge(self.expected, self.source.info, self.target.info, self.target.inputs).of(self.target.path)

    @property
    def sound(self) -> bool:
        """Whether nothing is left to repair."""
        return not self.judged.differing and self.judged.error <= SOUND

    @cached_property
    def followed(self) -> Followed:
        """The target in ONNX: itself, or converted once more."""
        return follow(self.target.path, self.target.info, self.workdir / "followed")

    @cached_property
    def model(self) -> Any:
        """``onnx.ModelProto`` of the target in ONNX."""
        import onnx

        try:
            return onnx.load(self.followed.path)
        except Exception as error:
            raise failure("load", f"the target could not be read: {first_line(error)}") from error

    @cached_property
    def graph(self) -> Graph:
        """The source, node by node."""
        try:
            return open_graph(self.source.path, self.source.info)
        except Exception as error:
            raise failure("load", f"the source could not be opened: {first_line(error)}") from error

    @cached_property
    def ys(self) -> Sequence[np.ndarray]:
        """The inputs as the target in ONNX takes them."""
        if not self.followed.made:
            return self.target.inputs
        return self._inputs(self._params.target_recipe, self.followed.info)

    @cached_property
    def rights(self) -> Sequence[np.ndarray]:
        """The inputs as that should be given them."""
        if self._params.source_recipe == self._params.target_recipe:
            return self.ys
        rights = self._inputs(self._params.source_recipe, self.followed.info)
        if rights[0].shape != self.ys[0].shape:
            own, wanted = list(self.ys[0].shape), list(rights[0].shape)
            raise failure("run", f"the target takes {own} and would be given {wanted} as the source is")
        return rights

    @cached_property
    def judge(self) -> Judge:
        """Holds ONNX models in the target's place against the source."""
        return Judge(self.expected, self.source.info, self.followed.info, self.ys)

    @cached_property
    def before(self) -> Judged:
        """The target in ONNX against the source.

        Raises:
            JobFailure: where that answers otherwise than the target.
        """
        if not self.followed.made:
            return self.judged
        again = self.judge.of(self.followed.path)
        if again.differing != self.judged.differing:
            raise failure(
                "follow",
                f"the target is followed in ONNX, and its conversion by {self.followed.tool} answers otherwise: "
                f"{len(again.differing)} labels differ from the source's where {len(self.judged.differing)} of the "
                "target do",
            )
        return again

    def locate(self, model: Any, position: int) -> Located:
        """Localise in an ``onnx.ModelProto`` on one input."""
        self._looks += 1
        folder = self.workdir / f"values{self._looks}"
        x, y, right = self.source.inputs[position], self.ys[position], self.rights[position]
        return locate(self.graph, x, model, y, folder, right)

    def _side(self, role: str, info: ModelInfo | None, recipe: Recipe) -> Side:
        known = info or ModelInfo.model_validate(self._context.inputs[role].data["info"])
        path = self._context.store.materialise(_model(role, self._context), self._context.cache)
        return Side(path, known, self._inputs(recipe, known))

    def _inputs(self, recipe: Recipe, info: ModelInfo) -> list[np.ndarray]:
        params = self._params
        paths = [self._context.fetch(f"shard{place}") for place in range(params.shards)]
        every = (x for path in paths for x in shard_inputs(path, params.data_kind, recipe, info.input))
        try:
            return list(islice(every, params.limit))
        except (DataError, ValueError) as error:
            raise failure("preprocess", f"an input could not be prepared: {error}") from error

    def _right_answers(self) -> np.ndarray:
        """float32 [n, C], each finite and the same when it is asked for again."""
        side = self.source
        try:
            expected = answers(side.path, side.info, side.inputs)
            again = answers(side.path, side.info, side.inputs[:1])
        except Exception as error:
            raise failure("load", f"a model could not be run: {first_line(error)}") from error
        if not np.isfinite(expected).all():
            bad = int((~np.isfinite(expected).all(axis=1)).sum())
            said = f"the source itself answers {bad} of {len(expected)} inputs with NaN or Inf: there is no right"
            raise failure("run", said)
        if not np.allclose(again, expected[:1], rtol=1e-5, atol=1e-6):
            raise failure(
                "run", "the source answers one input in two ways: it is not deterministic, so nothing is right"
            )
        return expected


def failure(stage: str, message: str) -> JobFailure:
    """Of a pair that cannot be held against each other."""
    return JobFailure(Outcome.REPAIR_FAILED, stage, message)


def _model(role: str, context: JobContext) -> ArtifactRef:
    """A model that is a source of the job, or that a job made which it needs."""
    found = context.job.sources.get(role)
    return found if found is not None else context.inputs[role].artifacts["model"]
