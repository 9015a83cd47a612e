"""Who calls, and whether they may: before a method sees anything of a call."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import grpc

from deltann_gateway.methods import role_of
from deltann_gateway.status import refuse
from deltann_gateway.tokens import Role, Tokens

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Caller:
    """Who calls. Where the gateway has no tokens, everybody who reaches it may submit."""

    name: str = ""
    role: Role = Role.SUBMIT


_ANYBODY = Caller()
CALLER: ContextVar[Caller] = ContextVar("caller", default=_ANYBODY)
"""Of the call that is being answered."""

_HOW = "Send it as the metadata `authorization: Bearer TOKEN`; DeltaNN's own client takes it from DELTANN_TOKEN."
Continuation = Callable[[grpc.HandlerCallDetails], Awaitable[Any]]


class Access(grpc.aio.ServerInterceptor):
    """Lets a call pass whose token has the role that its method needs.

    Args:
        tokens: those there are; None for a gateway that asks for none.
    """

    def __init__(self, tokens: Tokens | None) -> None:
        self._tokens = tokens

    async def intercept_service(self, continuation: Continuation, handler_call_details: Any) -> Any:
        """The method's handler, or one that refuses."""
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        needed = role_of(method)
        if handler is None or self._tokens is None or needed is None:
            return handler
        presented = _bearer(handler_call_details.invocation_metadata)
        if presented is None:
            return _refusal(grpc.StatusCode.UNAUTHENTICATED, f"This gateway asks for a token. {_HOW}")
        token = self._tokens.holder(presented)
        if token is None:
            log.warning("%s: refused, its token is not known", method)
            return _refusal(
                grpc.StatusCode.UNAUTHENTICATED,
                "The token that was sent is none of this gateway's: it is mistyped or was taken back. "
                "Ask whoever runs the gateway for one.",
            )
        if token.role < needed:
            log.warning("%s: refused, %s has the role %s", method, token.name, token.role.name.lower())
            return _refusal(
                grpc.StatusCode.PERMISSION_DENIED,
                f"{method.rpartition('/')[2]} needs the role {needed.name.lower()}, and the token of {token.name} has "
                f"{token.role.name.lower()}. Use another token, or ask whoever runs the gateway for one.",
            )
        CALLER.set(Caller(token.name, token.role))
        return handler


def _bearer(metadata: Any) -> str | None:
    given = [value for key, value in metadata or () if key == "authorization"]
    if len(given) != 1 or not isinstance(given[0], str):
        return None
    scheme, _, token = given[0].partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def _refusal(code: grpc.StatusCode, message: str) -> grpc.RpcMethodHandler[Any, Any]:
    async def abort(requests: Any, context: Any) -> None:
        await refuse(context, code, message, code.name)

    # Of a stream, so that nothing is read of a call that is refused.
    return grpc.stream_unary_rpc_method_handler(abort)
