"""What is known of every layer of a target that was held against its source: plain data for reports."""

from __future__ import annotations

from pydantic import Field

from deltann.base import Data
from deltann.layers.statistics import Statistics

BINS = 32
"""Of histograms."""


class LayerFacts(Data):
    """One value of the target. Errors are the largest difference relative to the root mean square of the source's.

    Args:
        node: of the target, which writes the value.
        op_type: its operator.
        output: name of the value.
        source: the source's value that it is, null where none could be found.
        match: why it is that value, and how sure that is.
        own_error: of the node fed with the source's values; null where there is nothing to compare.
        error: of the value as the target computes it on the worst input, with all that it inherits.
        median_error: the same, the median over all inputs that were looked at.
        p: how likely errors of this layer are no larger for inputs whose label changes: Kruskal-Wallis over inputs,
            corrected for the number of layers (Benjamini-Hochberg). Null where inputs of either kind are too few.
        right: of the source's value on the worst input.
        found: of the target's own, as it computes it.
    """

    node: str
    op_type: str
    output: str
    source: str | None = None
    match: str = ""
    own_error: float | None = None
    error: float | None = None
    median_error: float | None = None
    p: float | None = None
    right: Statistics | None = None
    found: Statistics | None = None


class Picture(Data):
    """A tensor of the source, the target's, and their difference: histograms over the same edges, and small maps.

    Args:
        node: of the target.
        what: ``activation``, or which parameter.
        edges: of the histograms of both tensors, one more than bins.
        right: how many values of the source's are in each bin.
        found: of the target's.
        difference_edges: of the histogram of differences.
        difference: how many differences are in each bin.
        right_map: rows of the source's, over its two longest axes, others averaged, at most 24 × 24.
        found_map: of the target's.
        difference_map: of the absolute difference.
    """

    node: str
    what: str
    edges: tuple[float, ...]
    right: tuple[int, ...]
    found: tuple[int, ...]
    difference_edges: tuple[float, ...]
    difference: tuple[int, ...]
    right_map: tuple[tuple[float, ...], ...]
    found_map: tuple[tuple[float, ...], ...]
    difference_map: tuple[tuple[float, ...], ...]


class Layers(Data):
    """A target held against its source over some inputs.

    ``inputs`` are their positions, the worst first; ``unmatched`` are values of the source that the target has nowhere.
    """

    inputs: tuple[int, ...] = ()
    layers: tuple[LayerFacts, ...] = ()
    unmatched: tuple[str, ...] = Field(default=())
    pictures: tuple[Picture, ...] = ()
