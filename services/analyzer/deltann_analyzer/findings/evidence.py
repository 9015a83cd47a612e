"""What findings are derived from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from deltann.plan.context import SweepContext
from deltann.report.models import Conversion, Inputs, Pair, StepFault, Variant
from deltann.spec.models import Axis
from deltann_analyzer.measured import Measured


@dataclass(frozen=True)
class Evidence:
    """The parts of a report, and what they were made of. ``names`` are what a person calls the variants, by id."""

    context: SweepContext
    measured: Sequence[Measured]
    variants: Sequence[Variant]
    conversions: Sequence[Conversion]
    pairs: Sequence[Pair]
    inputs: Inputs
    names: Mapping[str, str]
    faults: Sequence[StepFault] = ()

    @cached_property
    def variant(self) -> Mapping[str, Variant]:
        """The variants by id."""
        return {variant.id: variant for variant in self.variants}

    def along(self, *axes: Axis) -> Iterator[Pair]:
        """The pairs along these axes; with none named, those along any one axis."""
        return (pair for pair in self.pairs if pair.axis in axes or (not axes and pair.axis != "multiple"))
