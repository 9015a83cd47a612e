"""The variants of one model, and the jobs that compile, run and time them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from deltann.artifact import ArtifactRef
from deltann.kinds.compile import CompileParams, ImportParams
from deltann.kinds.execute import ExecuteParams, TimeParams
from deltann.kinds.resolve import DataManifest
from deltann.model import ENGINE_OF, Engine, ModelInfo
from deltann.plan.build import PlanBuilder
from deltann.plan.context import VariantPlan
from deltann.plan.nodes import Node, importable
from deltann.preprocess.recipes import resolve_recipe
from deltann.preprocess.steps import Recipe
from deltann.spec.models import OWN, ModelEntry, Study

KEEP_OUTPUTS_UP_TO = 1_000
"""Inputs up to which whole outputs are kept where the study does not say."""

TIMING_PHASE = 1


@dataclass(frozen=True)
class _Build:
    """How a node is run: by its own engine (no target), or as a compiled module."""

    engine: Engine
    target: str | None = None
    level: int | None = None
    schedule: str | None = None
    precision: str = "fp32"


@dataclass
class VariantPlanner:
    """Plans the variants of one model entry."""

    builder: PlanBuilder
    study: Study
    entry: ModelEntry
    manifest: DataManifest
    variants: list[VariantPlan] = field(default_factory=list)

    def add(self, node: Node, *, conversion: str | None = None, source: Node | None = None) -> None:
        """All variants of a node: engines, levels, targets, preprocessing and pools.

        Args:
            node: the model.
            conversion: id of the conversion that made it.
            source: the model that this conversion started from.
        """
        for build in self._builds(node):
            for recipe in self._recipes(node, build):
                for pool in self.study.pools:
                    self._variant(node, build, recipe, pool, conversion, source)

    def _builds(self, node: Node) -> Iterator[_Build]:
        if "own" in self.study.engines:
            yield _Build(ENGINE_OF[node.framework])
        if "tvm" in self.study.engines:
            wanted = self.study.compile
            for target, level, schedule, precision in product(
                wanted.targets, wanted.levels, wanted.schedules, wanted.precisions
            ):
                yield _Build("tvm", target, level, schedule, precision)

    def _recipes(self, node: Node, build: _Build) -> list[Recipe]:
        every = self.study.preprocessing_on == "all" or (node.job is None and build.engine != "tvm")
        wanted = self.entry.preprocessing if every else self.entry.preprocessing[:1]
        recipes = [resolve_recipe(one, self._info(node), self.study.recipes) for one in wanted]
        if any(native.preprocessing is not None for native in self.entry.natives):
            recipes[0] = self._own_recipe(node, recipes[0])
        return recipes

    def _own_recipe(self, node: Node, usual: Recipe) -> Recipe:
        """What feeds this native as its authors did. It has one name for all natives, so that they can be compared."""
        wanted = node.native.preprocessing
        recipe = usual if wanted is None else resolve_recipe(wanted, self._info(node), self.study.recipes)
        return recipe.model_copy(update={"name": OWN})

    @staticmethod
    def _info(node: Node) -> ModelInfo:
        """The input of a converted model has the size of its native's."""
        return node.info or node.native.info

    def _name(self, node: Node, build: _Build, recipe: Recipe, pool: str) -> str:
        """The variant's id: what sets it apart in this study, and no more."""
        compiled = self.study.compile
        parts = [node.name, "@", build.engine]
        if build.level is not None:
            parts.append(f" O{build.level}")
            parts.append(f" {compiled.changes}" if compiled.changes else "")
            for value, values in (
                (build.target, compiled.targets),
                (build.schedule, compiled.schedules),
                (build.precision, compiled.precisions),
            ):
                if len(values) > 1:
                    parts.append(f" {value}")
        if len(self.entry.preprocessing) > 1:
            parts.append(f" [{recipe.name}]")
        if len(self.study.pools) > 1:
            parts.append(f" on {pool}")
        return "".join(parts)

    def _variant(
        self, node: Node, build: _Build, recipe: Recipe, pool: str, conversion: str | None, source: Node | None
    ) -> None:
        identity = self._name(node, build, recipe, pool)
        imported = compiled = None
        if build.engine == "tvm":
            imported, compiled = self._compile(node, build)
            needs, sources, info = {"module": compiled}, {}, None
        else:
            needs, sources, info = node.needs, node.sources, node.info
        engine, compare = build.engine, self.study.compare
        keep = compare.keep_outputs if compare.keep_outputs is not None else self.manifest.n <= KEEP_OUTPUTS_UP_TO
        executes = tuple(
            self.builder.add(
                "execute",
                ExecuteParams(
                    engine=engine,
                    info=info,
                    recipe=recipe,
                    data_kind=self.manifest.kind,
                    start=shard.start,
                    stop=shard.stop,
                    k=compare.k,
                    keep_outputs=keep,
                    threads=self.study.threads,
                    pool=pool,
                ),
                pool=pool,
                needs=needs,
                sources={**sources, "shard": shard.blob},
                label=f"{identity}: inputs {shard.start}–{shard.stop - 1}",
            )
            for shard in self.manifest.shards
        )
        source_build = build if build.engine == "tvm" else _Build(ENGINE_OF[source.framework]) if source else build
        self.variants.append(
            VariantPlan(
                id=identity,
                model=self.entry.name,
                instance=node.native.instance,
                source=node.native.info.framework,
                framework=node.framework,
                chain=node.chain if node.job is not None else (),
                conversion=conversion,
                parent=self._name(source, source_build, recipe, pool) if source else None,
                engine=engine,
                target=build.target,
                opt_level=build.level,
                schedule=build.schedule,
                precision=build.precision,
                preprocessing=recipe.name,
                pool=pool,
                convert_jobs=node.steps,
                import_job=imported,
                compile_job=compiled,
                execute_jobs=executes,
                time_job=self._time(identity, engine, info, recipe, pool, needs, sources, executes[0]),
            )
        )

    def _compile(self, node: Node, build: _Build) -> tuple[int, int]:
        model = importable(self.builder, node, self.study.conversions.opset)
        imported = self.builder.add(
            "import",
            ImportParams(info=model.info),
            needs=model.needs,
            sources=model.sources,
            label=f"{node.name}: import into TVM",
        )
        params = CompileParams(
            target=build.target or "host",
            level=build.level or 0,
            schedule=build.schedule or "standard",
            precision=build.precision,
            enable=self.study.compile.enable,
            disable=self.study.compile.disable,
        )
        label = f"{node.name}: compile at level {build.level} for {build.target}"
        return imported, self.builder.add("compile", params, needs={"ir": imported}, label=label)

    def _time(
        self,
        identity: str,
        engine: Engine,
        info: ModelInfo | None,
        recipe: Recipe,
        pool: str,
        needs: dict[str, int],
        sources: dict[str, ArtifactRef],
        labels: int,
    ) -> int | None:
        """A timing of its own, after the labels: what cannot be run is not timed."""
        timing, shard = self.study.timing, self.manifest.shards[0]
        if timing is None:
            return None
        params = TimeParams(
            engine=engine,
            info=info,
            recipe=recipe,
            data_kind=self.manifest.kind,
            inputs=min(timing.inputs, shard.stop - shard.start),
            repeats=timing.repeats,
            warmup=timing.warmup,
            threads=self.study.threads,
            pool=pool,
        )
        return self.builder.add(
            "time",
            params,
            pool=pool,
            needs={**needs, "outputs": labels},
            sources={**sources, "shard": shard.blob},
            phase=TIMING_PHASE,
            label=f"{identity}: time",
        )
