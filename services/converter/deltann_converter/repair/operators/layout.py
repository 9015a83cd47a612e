"""Layout: a transpose of what a node reads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from deltann.faults.edits import InsertNode
from deltann_converter.repair.operators.base import Operator, Proposal
from deltann_converter.repair.site import Site

_MOST_AXES = 4


def propose(site: Site) -> Iterator[Proposal]:
    """Every order of the axes of every known value that a node reads."""
    shapes = {name: value.ndim for name, value in site.feeds.items()}
    for node in site.nodes:
        for slot, name in enumerate(node.input):
            for perm in permutations(range(shapes.get(name, 0))):
                if 2 <= len(perm) <= _MOST_AXES and list(perm) != sorted(perm):
                    yield Proposal(
                        node=node.output[0],
                        kind="input transposed",
                        evidence=f"It reads {name} in another order of its axes than the source: {list(perm)}.",
                        edits=(
                            InsertNode(
                                value=name,
                                output=f"{node.output[0]}_{slot}_transposed",
                                op_type="Transpose",
                                attributes={"perm": list(perm)},
                                reader=node.output[0],
                            ),
                        ),
                    )


OPERATOR = Operator("layout", "layout", propose)
