"""How large a tile of a matrix product is: a small model of what a tile costs, and no search.

A product C[m, o] = Σₖ A[m, k] · B[k, o] is computed in tiles of ``columns`` rows of A × ``channels`` columns of B whose
sums stay in vector registers while all of k goes by. A step of k loads ``channels / lanes`` vectors of B and broadcasts
``columns`` values of A; the more square the tile, the more arithmetic per load, and the fewer registers are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

_PORTS = 2
"""Multiply-adds, and vector loads, that a core starts in a cycle."""

_LATENCY = 4
"""Cycles until a multiply-add's result can be added to: fewer sums than ports × latency wait for each other."""

_TILE_CYCLES = 12
"""What a tile costs beside its products: addresses, bias, activation, storing."""

_L2 = 160 * 1024
"""Bytes of A that are kept while every tile of B goes by: a part of the smallest usual second-level cache."""

_PARTS = 8
"""Parts for the threads to share out, at least."""

_MOST_VECTORS = 8


@dataclass(frozen=True)
class Tile:
    """A tile and how tiles are grouped. ``rows`` of A are as many as there are, rounded up to whole groups.

    Attributes:
        columns: rows of A in a tile (neighbouring pixels of an image).
        channels: columns of B in a tile (output channels), a multiple of ``lanes``.
        lanes: float32 lanes of the vectors.
        tiles: tiles along A that follow each other before the next tile of B.
        groups: such runs of tiles.
    """

    columns: int
    channels: int
    lanes: int
    tiles: int
    groups: int

    @property
    def rows(self) -> int:
        """Rows of A with padding."""
        return self.groups * self.tiles * self.columns


def registers(lanes: int) -> int:
    """Vector registers of a target with vectors of so many float32 lanes: 32 with AVX-512, 16 with AVX2 and SSE."""
    return 32 if lanes == 16 else 16


def vector(outputs: int, lanes: int) -> int:
    """Lanes to compute ``outputs`` in: half vectors where whole ones leave a rest and these do not."""
    return lanes // 2 if outputs % lanes and lanes > 4 and outputs % (lanes // 2) == 0 else lanes


def choose_tile(rows: int, outputs: int, sums: int, bytes_of_a: int, lanes: int) -> Tile:
    """The tile and groups that cost the fewest cycles.

    Args:
        rows: of A, the pixels of the output.
        outputs: columns of B; where they are no multiple of a vector, B has to be padded to whole tiles.
        sums: extent of k.
        bytes_of_a: of all distinct values that A is made of.
        lanes: float32 lanes of the target's vectors.
    """
    width, room = vector(outputs, lanes), registers(lanes)
    whole = outputs % width == 0
    best = None
    for vectors in range(1, _MOST_VECTORS + 1):
        if whole and outputs % (vectors * width):
            continue
        for columns in range(1, min(rows, (room - 1 - vectors) // vectors) + 1):
            step = max(vectors * columns / _PORTS, _LATENCY, (vectors + columns) / _PORTS)
            tiles = ceil(rows / columns) * ceil(outputs / (vectors * width))
            cost = tiles * (step * sums + _TILE_CYCLES)
            if best is None or cost < best[0]:
                best = cost, columns, vectors * width
    assert best is not None
    _, columns, channels = best
    tiles = ceil(rows / columns)
    groups = _groups(tiles, ceil(outputs / channels), bytes_of_a)
    return Tile(columns, channels, width, ceil(tiles / groups), groups)


def _groups(tiles: int, across: int, bytes_of_a: int) -> int:
    """Enough groups that one's part of A stays in cache and each thread has some; of these, the least padding."""
    least = min(tiles, max(ceil(bytes_of_a / _L2), ceil(_PARTS / across)))
    return min(range(least, min(tiles, 2 * least) + 1), key=lambda groups: (groups * ceil(tiles / groups), groups))
