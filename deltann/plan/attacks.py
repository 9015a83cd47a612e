"""The jobs that attack natives, and those that run their variants over the adversarial sets. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from deltann.artifact import ArtifactRef
from deltann.errors import SpecError
from deltann.kinds.attack import ATTACK, MOST_INPUTS, WITH_GRADIENTS, AttackParams, Fgsm, Genetic
from deltann.kinds.execute import ExecuteParams
from deltann.kinds.resolve import DataManifest
from deltann.model import ENGINE_OF
from deltann.plan.build import PlanBuilder
from deltann.plan.context import AttackPlan, VariantPlan
from deltann.plan.nodes import Node
from deltann.preprocess.steps import Recipe
from deltann.spec.attack_checks import no_gradients
from deltann.spec.attacks import AttackEntry, attack_of
from deltann.spec.models import ModelEntry, Study

_MOST_ANSWERS = 20
"""Shards that an attack draws its inputs from at most: 10,000 inputs, and their edges fit into a message."""
_PREPARED = Recipe(name="none")


def plan_attacks(
    builder: PlanBuilder,
    study: Study,
    entry: ModelEntry,
    groups: Sequence[Sequence[Node]],
    variants: Sequence[VariantPlan],
    manifest: DataManifest,
    stored: Mapping[str, ArtifactRef],
) -> list[AttackPlan]:
    """Every attack of the study on every native of a model.

    The attack comes after the native's labels; then the native, all that came of it and the natives of the other
    frameworks in its group are given the set. Variants that are mutants, or prepare their inputs in a further way, are
    left out.

    Args:
        builder: that has the variants' jobs.
        study: that asks for them.
        entry: the model.
        groups: its natives, those that were trained alike together.
        variants: all variants of the model.
        manifest: its inputs.
        stored: its ``manifest``, and the ``vocabulary`` of sentences.

    Raises:
        SpecError: for an attack by gradient on a native that has none, and for one that its inputs do not fit.
    """
    found = []
    for attack in study.attacks:
        if not _fits(attack, entry, manifest):
            continue
        for group in groups:
            originals = {node.native.id: _original(node, variants) for node in group}
            for node in group:
                if (original := originals[node.native.id]) is None:
                    raise SpecError(
                        f"attacks: {attack.title} is made on {node.native.id} in its own engine, which takes no part. "
                        "Add own to engines."
                    )
                if isinstance(attack, Fgsm) and node.framework not in WITH_GRADIENTS:
                    raise SpecError(f"attacks: {no_gradients(node.native.id, entry.name, node.framework)}")
                across = [one for one in originals.values() if one is not None and one is not original]
                given = [original, *_derived(original, variants), *across]
                found.append(_plan(builder, attack, node, original, given, stored))
    return found


def _fits(attack: AttackEntry, entry: ModelEntry, manifest: DataManifest) -> bool:
    if attack.models is not None and entry.name not in attack.models:
        return False
    fits = (manifest.kind == "tokens") == isinstance(attack, Genetic)
    if not fits and attack.models is not None:
        raise SpecError(
            f"attacks: {attack.title} cannot be made on {entry.name}, whose inputs are {manifest.kind}. Words are "
            "attacked by genetic, everything else by fgsm or boundary."
        )
    return fits


def _original(node: Node, variants: Sequence[VariantPlan]) -> VariantPlan | None:
    engine = ENGINE_OF[node.framework]
    mine = (one for one in variants if (one.model, one.instance) == (node.native.model, node.native.instance))
    return next((one for one in mine if one.engine == engine and not one.convert_jobs and one.mutation is None), None)


def _derived(original: VariantPlan, variants: Sequence[VariantPlan]) -> Iterator[VariantPlan]:
    """What came of a native or runs it otherwise, fed alike."""
    for one in variants:
        alike = (one.model, one.instance, one.preprocessing) == (
            original.model,
            original.instance,
            original.preprocessing,
        )
        if alike and one.mutation is None and one is not original:
            yield one


def _plan(
    builder: PlanBuilder,
    entry: AttackEntry,
    node: Node,
    original: VariantPlan,
    given: Sequence[VariantPlan],
    stored: Mapping[str, ArtifactRef],
) -> AttackPlan:
    executed = [ExecuteParams.model_validate(builder.jobs[index].params) for index in original.execute_jobs]
    answers = original.execute_jobs[:_MOST_ANSWERS]
    params = AttackParams(
        attack=attack_of(entry), info=node.native.info, recipe=executed[0].recipe, answers=len(answers)
    )
    job = builder.add(
        ATTACK,
        params,
        needs={f"outputs{place}": index for place, index in enumerate(answers)},
        sources={**node.sources, **{role: stored[role] for role in ("manifest", "vocabulary") if role in stored}},
        label=f"{node.native.id}: attack by {entry.title}",
    )
    runs = {one.id: _run(builder, one, job, params, f"{one.id}: against {entry.title}") for one in given}
    return AttackPlan(attack=entry.title, native=node.native.id, original=original.id, job=job, runs=runs)


def _run(builder: PlanBuilder, variant: VariantPlan, attack: int, params: AttackParams, label: str) -> int:
    """The variant's own execution, with the adversarial set in place of its shard."""
    usual = builder.jobs[variant.execute_jobs[0]]
    own = ExecuteParams.model_validate(usual.params)
    over = own.model_copy(
        update={
            "recipe": _PREPARED,
            "data_kind": "tokens" if isinstance(params.attack, Genetic) else "tensors",
            "start": 0,
            "stop": MOST_INPUTS,
            "whole": True,
            "keep_outputs": True,
        }
    )
    return builder.add(
        usual.kind,
        over,
        pool=variant.pool,
        needs={**usual.needs, "shard": attack},
        sources={role: ref for role, ref in usual.sources.items() if role != "shard"},
        label=label,
    )
