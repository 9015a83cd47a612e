"""What a kernel operator is, and where they are registered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from deltann_compiler.mutation.registry import Registry

Values = Mapping[str, float]


class KernelOperator(ABC):
    """A mutation operator on the kernels of a scheduled module (``PrimFunc`` with blocks).

    ``node`` names the class of ``tvm.tirx`` whose nodes may be places.
    """

    node: ClassVar[str]

    def fits(self, node: Any, around: Any, values: Values) -> bool:
        """Whether a node is a place. ``around`` is what :meth:`survey` found in its kernel."""
        return True

    def survey(self, function: Any) -> Any:
        """What ``fits`` has to know of a whole kernel."""
        return None

    @abstractmethod
    def mutated(self, node: Any, values: Values) -> Any:
        """What takes the node's place."""

    def proven_equivalent(self, values: Values) -> str:
        """Why no output can change with these parameters, whatever the model; empty where some may."""
        return ""


REGISTERED: Registry[KernelOperator] = Registry()
operator = REGISTERED.operator
