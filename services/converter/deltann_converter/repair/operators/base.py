"""What a repair operator is: one module with ``propose(site)``, which says what could put a site right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from deltann.faults.edits import Edit
from deltann.faults.suspect import Stage
from deltann_converter.repair.site import Site


@dataclass(frozen=True)
class Proposal:
    """Edits of a site, not tried yet.

    Args:
        node: first output of the node that they are about.
        kind: of the fault, where they are right.
        evidence: a sentence on why.
        stage: where it is another than the operator's.
        parts: of which it consists, where some of them may be needless; ``edits`` are then those of all.
    """

    node: str
    kind: str
    evidence: str
    edits: tuple[Edit, ...]
    stage: Stage | None = None
    parts: tuple[Proposal, ...] = ()


@dataclass(frozen=True)
class Operator:
    """A kind of repair; ``propose`` gives what is most likely first."""

    name: str
    stage: Stage
    propose: Callable[[Site], Iterator[Proposal]]
