"""Why there is no mutant."""

from __future__ import annotations

from deltann.kinds.mutate import Reason


class MutationError(ValueError):
    """No mutant: ``kind`` tells why in a word, the message in a sentence."""

    def __init__(self, kind: Reason, message: str) -> None:
        super().__init__(message)
        self.kind = kind
