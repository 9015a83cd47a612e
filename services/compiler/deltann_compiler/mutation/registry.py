"""How the operators of a level are registered under the names of the table that all know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from deltann.mutation import OPERATORS

_Made = TypeVar("_Made", bound=type[Any])
_Operator = TypeVar("_Operator")


class Registry(dict[str, _Operator], Generic[_Operator]):
    """Operators by the names of :data:`deltann.mutation.OPERATORS`."""

    def operator(self, name: str, *args: Any) -> Callable[[_Made], _Made]:
        """Register a class, made with ``args``, as what the operator of that name does; one class may be several."""
        if name not in OPERATORS:
            raise LookupError(f"deltann.mutation says nothing of {name}: add it to its table")

        def register(made: _Made) -> _Made:
            self[name] = made(*args)
            return made

        return register
