"""What localisation says of one place in a converted model: the fault, how it shows, and what would put it right."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deltann.base import Data
from deltann.faults.edits import Edit

Stage = Literal["preprocessing", "parameters", "hyperparameters", "layout", "graph", "unknown"]
"""What of a conversion went wrong; ``unknown`` where nothing that was tried explains it."""


class Suspect(Data):
    """A node of the target that is wrong by itself. Errors are the largest difference relative to the root mean square.

    Args:
        node: its name; of several that may share the fault, the one that the edits are about.
        op_type: its operator.
        output: the value that it writes.
        source: the source's value that this should be, null where none could be found.
        own_error: of the node fed with the source's values; null where it could not be run, or is infinite.
        inherited_error: of what the node is fed in the target as it is; null where that cannot be said.
        stage: of the conversion.
        kind: of the fault, in a few words (``weights zeroed``, ``attribute pads``).
        sure: whether what follows is recognised once the node is put right.
        evidence: sentences.
        edits: of the target, which make the node right in its place; none where nothing was found.
    """

    node: str
    op_type: str
    output: str
    source: str | None
    own_error: float | None
    inherited_error: float | None = None
    stage: Stage = "unknown"
    kind: str = "unknown"
    sure: bool = True
    evidence: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = Field(default=())
