"""The part of the report on quantised models: what fewer bits cost, and which classes pay."""

from __future__ import annotations

from deltann.base import Data
from deltann.kinds.quantize import Scheme
from deltann.report.share import Share
from deltann.report.training import InstanceMeasures, Spread


class ClassLoss(Data):
    """A class before and after: how many inputs are of it, the shares that are named rightly, before less after."""

    label: int
    n: int
    accuracy_before: Share
    accuracy_after: Share
    lost: float


class QuantizedModel(InstanceMeasures):
    """A quantised model against the same one before: ``before`` and ``after`` in its measures.

    ``way`` is the format and the scheme. ``a`` and ``b`` are the two variants; ``calibrated_on`` is how many inputs the
    ranges of activations come from, 0 for a scheme that has none; ``classes`` are those that lost or gained, by their
    loss.
    """

    scheme: Scheme
    a: str
    b: str
    version: str
    calibrated_on: int
    classes: list[ClassLoss]


class QuantizationReport(Data):
    """All of it; spreads are over the instances of a trained configuration."""

    models: list[QuantizedModel]
    spreads: list[Spread]
