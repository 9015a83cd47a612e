"""Which conversions a study asks for, and the steps that make them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from deltann.kinds.convert import DIRECT
from deltann.model import Framework
from deltann.plan.build import PlanBuilder
from deltann.plan.context import ConversionPlan
from deltann.plan.nodes import Node, hops, step
from deltann.spec.models import Conversions


@dataclass(frozen=True)
class Converted:
    """A conversion, the model it starts from and the one it makes."""

    plan: ConversionPlan
    source: Node
    made: Node


@dataclass(frozen=True)
class _Way:
    """How a conversion is made: its route, whether ONNX is normalised, and the tool of the last step."""

    route: str = "onnx"
    normalise: bool = True
    tool: str | None = None

    @property
    def suffix(self) -> str:
        """What tells it from the usual way, in names; empty for that one."""
        parts = [
            self.route if self.route != "onnx" else "",
            "" if self.normalise else "raw",
            self.tool or "",
        ]
        words = ", ".join(part for part in parts if part)
        return f" ({words})" if words else ""


class ConversionPlanner:
    """Plans the conversions of one model's natives; equal conversions are planned once."""

    def __init__(self, builder: PlanBuilder, natives: Sequence[Node], wanted: Conversions) -> None:
        self._builder, self._natives, self._wanted = builder, natives, wanted
        self._found: dict[int, Converted] = {}

    def plan(self) -> list[Converted]:
        """All conversions that the study asks for, and those that their sources had to be derived by."""
        for source, target in self._pairs():
            node = self._source(source)
            for way in self._ways(source, target):
                self._convert(node, target, way)
        for chain in self._wanted.chains:
            self._chain(chain)
        return list(self._found.values())

    def _pairs(self) -> Iterator[tuple[Framework, Framework]]:
        if self._wanted.pairs != "all":
            yield from self._wanted.pairs
            return
        for source, target in product(self._wanted.frameworks, repeat=2):
            if source != target:
                yield source, target

    def _ways(self, source: Framework, target: Framework) -> Iterator[_Way]:
        for route, tool in product(self._wanted.routes, self._wanted.tools.get(target, (None,))):
            if route == "direct":
                if (source, target) in DIRECT:
                    yield _Way(route="direct")
                continue
            for normalise in self._wanted.normalise:
                yield _Way(normalise=normalise, tool=tool)

    def _source(self, framework: Framework) -> Node:
        """A native of that framework, or the first native converted to it in the usual way."""
        for native in self._natives:
            if native.framework == framework:
                return native
        return self._convert(self._natives[0], framework, _Way()).made

    def _convert(self, node: Node, target: Framework, way: _Way) -> Converted:
        at = node
        if way.route == "onnx":
            at = self._before(at, target)
        made = step(
            self._builder,
            at,
            target,
            tool=way.tool,
            normalise=way.normalise,
            opset=self._wanted.opset,
            suffix=way.suffix,
        )
        return self._keep(node, made, way)

    def _chain(self, chain: tuple[Framework, ...]) -> None:
        """A chain as it is written: direct tools where there are, through ONNX elsewhere."""
        start = self._source(chain[0])
        at = start
        for target in chain[1:]:
            if (at.framework, target) not in DIRECT:
                at = self._before(at, target)
            at = step(self._builder, at, target, opset=self._wanted.opset)
        self._keep(start, at, _Way())

    def _before(self, node: Node, target: Framework) -> Node:
        """The node that the last step to ``target`` starts from: this one, or its ONNX."""
        for passed in hops(node.framework, target)[:-1]:
            node = step(self._builder, node, passed, opset=self._wanted.opset)
        return node

    def _keep(self, source: Node, made: Node, way: _Way) -> Converted:
        job = made.steps[-1]  # the same work, however it was asked for
        if job not in self._found:
            plan = ConversionPlan(
                id=made.name,
                model=made.native.model,
                native=made.native.id,
                chain=made.chain,
                source=source.framework,
                target=made.framework,
                normalise=way.normalise,
                jobs=made.steps[len(source.steps) :],
                source_variant_job=source.job,
            )
            self._found[job] = Converted(plan, source, made)
        return self._found[job]
