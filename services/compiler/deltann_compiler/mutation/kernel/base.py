"""What a kernel operator is, and where they are registered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from deltann.mutation import OPERATORS

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


REGISTERED: dict[str, KernelOperator] = {}
"""By the names of :data:`deltann.mutation.OPERATORS`."""

_Made = TypeVar("_Made", bound=type[KernelOperator])


def operator(name: str, *args: Any) -> Callable[[_Made], _Made]:
    """Register a class, made with ``args``, as what the operator of that name does; one class may be several."""
    if name not in OPERATORS:
        raise LookupError(f"deltann.mutation says nothing of {name}: add it to its table")

    def register(made: _Made) -> _Made:
        REGISTERED[name] = made(*args)
        return made

    return register
