"""The variants of one model, and the jobs that compile, run and time them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from deltann.engines import ENGINES
from deltann.kinds.execute import ExecuteParams, TimeParams
from deltann.kinds.resolve import DataManifest
from deltann.model import ENGINE_OF, ModelInfo
from deltann.mutation import Mutation
from deltann.plan.bisections import bisected
from deltann.plan.build import PlanBuilder
from deltann.plan.builds import Build, builds, earlier
from deltann.plan.context import VariantPlan
from deltann.plan.nodes import Node, mutant
from deltann.plan.runnable import Runnable, runnable
from deltann.preprocess.recipes import resolve_recipe
from deltann.preprocess.steps import Recipe
from deltann.spec.engines import EngineChoices
from deltann.spec.models import OWN, ModelEntry, Study

KEEP_OUTPUTS_UP_TO = 1_000
"""Inputs up to which whole outputs are kept where the study does not say."""

TIMING_PHASE = 1


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
        made: dict[tuple[str, str], dict[Build, VariantPlan]] = defaultdict(dict)
        recipes: dict[str, Recipe] = {}
        for build in builds(self.study, ENGINE_OF[node.framework]):
            for recipe in self._recipes(node, build):
                recipes[recipe.name] = recipe
                for pool in self.study.pools:
                    made[recipe.name, pool][build] = self._variant(node, build, recipe, pool, conversion, source)
        if self.study.compare.bisect:
            for (name, _), alike in made.items():
                found = bisected(self.builder, self.study, self.manifest, node, recipes[name], alike)
                self.variants = [found.get(one.id, one) for one in self.variants]

    def add_mutants(self, native: Node, onnx: Node) -> None:
        """All mutants of a model, in every build: of its ONNX, and of the graph and kernels that TVM has of it.

        Args:
            native: the model, whose own variants have been added.
            onnx: its ONNX, whose own have been as well; itself, where it is one.
        """
        for mutation in (one for entry in self.study.mutations for one in entry.mutations()):
            graph = mutation.facts.level == "graph"
            node = onnx if graph else native
            mutated = mutant(self.builder, node, mutation) if graph else node
            for build in builds(self.study, ENGINE_OF[node.framework]):
                if not graph and build.engine != "tvm":
                    continue
                recipe = self._recipes(node, build)[0]
                for pool in self.study.pools:
                    self._variant(mutated, build, recipe, pool, None, None, mutation)

    def add_quantized(self, node: Node, conversion: str | None) -> None:
        """The variants of a quantised model, in the engine of its framework.

        Args:
            node: the model.
            conversion: id of the conversion that made the same model before it was quantised.
        """
        engine = ENGINE_OF[node.framework]
        for build in builds(self.study, engine):
            if build.engine != engine or build.precision != ENGINES[engine].precisions[0]:
                continue
            recipe = self._recipes(node, build)[0]
            for pool in self.study.pools:
                self._variant(node, build, recipe, pool, conversion, None)

    def reference(self, node: Node) -> Recipe:
        """The recipe that a node is fed by in every build."""
        return self._recipes(node, Build(ENGINE_OF[node.framework]))[0]

    def _recipes(self, node: Node, build: Build) -> list[Recipe]:
        own = build.engine == ENGINE_OF[node.framework]
        every = self.study.preprocessing_on == "all" or (node.job is None and own)
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

    def _name(self, node: Node, build: Build, recipe: Recipe, pool: str) -> str:
        """The variant's id: what sets it apart in this study, and no more."""
        compiled = self.study.compile
        parts = [node.name, "@", build.engine]
        chosen = self.study.engine_options.get(build.engine, EngineChoices())
        if build.level_name is not None:
            parts.append(f" {build.level_name}")
        elif build.level is not None:
            parts.append(f" O{build.level}")
            parts.append(f" {compiled.changes}" if compiled.changes else "")
            for value, values in (
                (build.target, compiled.targets),
                (build.schedule, compiled.schedules),
                (build.precision, compiled.precisions),
            ):
                if len(values) > 1:
                    parts.append(f" {value}")
        parts += [f" {build.precision}"] if len(chosen.precisions or ()) > 1 else []
        parts += [f" {build.library}"] if len(chosen.libraries or ()) > 1 else []
        if len(self.entry.preprocessing) > 1:
            parts.append(f" [{recipe.name}]")
        if len(self.study.pools) > 1:
            parts.append(f" on {pool}")
        return "".join(parts)

    def _variant(
        self,
        node: Node,
        build: Build,
        recipe: Recipe,
        pool: str,
        conversion: str | None,
        source: Node | None,
        mutation: Mutation | None = None,
    ) -> VariantPlan:
        usual = self._name(node, build, recipe, pool)
        identity = f"{usual} ~ {mutation.name}" if mutation else usual
        inside = mutation if mutation is not None and mutation.facts.level != "graph" else None
        run = runnable(self.builder, node, build, self.study, inside)
        compare = self.study.compare
        keep = compare.keep_outputs if compare.keep_outputs is not None else self.manifest.n <= KEEP_OUTPUTS_UP_TO
        executes = tuple(
            self.builder.add(
                "execute",
                ExecuteParams(
                    engine=build.engine,
                    options=build.options,
                    info=run.info,
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
                needs=run.needs,
                sources={**run.sources, "shard": shard.blob},
                label=f"{identity}: inputs {shard.start}–{shard.stop - 1}",
            )
            for shard in self.manifest.shards
        )
        variant = VariantPlan(
            id=identity,
            model=self.entry.name,
            instance=node.native.instance,
            number=node.native.number,
            source=node.native.info.framework,
            framework=node.framework,
            chain=node.chain if node.steps else (),
            conversion=conversion,
            parent=self._parent(node, build, recipe, pool, source),
            engine=build.engine,
            target=build.target,
            opt_level=build.level,
            schedule=build.schedule,
            precision=node.scheme or build.precision,
            library=build.library,
            preprocessing=recipe.name,
            mutation=mutation.name if mutation else None,
            operator=mutation.operator if mutation else None,
            original=usual if mutation else None,
            pool=pool,
            convert_jobs=node.steps,
            mutate_job=node.mutated,
            quantize_job=node.quantized,
            read_job=run.read,
            import_job=run.imported,
            compile_job=run.compiled,
            execute_jobs=executes,
            time_job=None if mutation else self._time(identity, build, run, recipe, pool, executes[0]),
        )
        self.variants.append(variant)
        return variant

    def _parent(self, node: Node, build: Build, recipe: Recipe, pool: str, source: Node | None) -> str | None:
        if source is None:
            return None
        before = earlier(build, ENGINE_OF[node.framework], ENGINE_OF[source.framework], self.study)
        return self._name(source, before, recipe, pool) if before else None

    def _time(self, identity: str, build: Build, run: Runnable, recipe: Recipe, pool: str, labels: int) -> int | None:
        """A timing of its own, after the labels: what cannot be run is not timed."""
        timing, shard = self.study.timing, self.manifest.shards[0]
        if timing is None:
            return None
        params = TimeParams(
            engine=build.engine,
            options=build.options,
            info=run.info,
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
            needs={**run.needs, "outputs": labels},
            sources={**run.sources, "shard": shard.blob},
            phase=TIMING_PHASE,
            label=f"{identity}: time",
        )
