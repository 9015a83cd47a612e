"""The natives of a model as the plan begins with them: those that a study names, and those that it trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deltann.errors import ModelError
from deltann.job import JobResult
from deltann.kinds.resolve import ResolvedModel
from deltann.kinds.train import TrainedModel
from deltann.plan.context import NativeModel, TrainedInstance, Untrained
from deltann.plan.nodes import Node, native_node
from deltann.plan.resolve import ToTrain
from deltann.spec.models import ModelEntry


def named_natives(entry: ModelEntry, results: Sequence[JobResult]) -> list[Node]:
    """Natives named by their framework, numbered where one framework has several."""
    resolved = [ResolvedModel.model_validate(result.data) for result in results]
    frameworks = [one.info.framework for one in resolved]
    nodes = []
    for position, (one, result) in enumerate(zip(resolved, results, strict=True)):
        framework = frameworks[position]
        many = frameworks.count(framework) > 1
        instance = f"{framework}-{frameworks[: position + 1].count(framework)}" if many else framework
        native = NativeModel(
            id=f"{entry.name}/{instance}",
            model=entry.name,
            instance=instance,
            info=one.info,
            note=one.note,
            preprocessing=entry.natives[position].preprocessing,
        )
        nodes.append(native_node(native, result.artifacts["model"]))
    if len({node.ref.digest for node in nodes if node.ref}) < len(nodes):
        raise ModelError(f"Two natives of {entry.name} are the same file. Name each native once.")
    return nodes


def trained_natives(
    entry: ModelEntry, wanted: Sequence[ToTrain], results: Mapping[int, JobResult]
) -> tuple[list[list[Node]], list[Untrained]]:
    """The trained models, the frameworks of one instance together, and the trainings that failed.

    Raises:
        ModelError: where none of a model could be trained.
    """
    found: dict[int, list[Node]] = {}
    failed: list[Untrained] = []
    many = len({one.number for one in wanted}) > 1
    for one in wanted:
        instance = f"{one.framework}-{one.number}" if many else one.framework
        result = results.get(one.job)
        if result is None or not result.outcome.usable:
            why = "its workers died over it again and again" if result is None else _why(result)
            failed.append(Untrained(model=entry.name, instance=instance, why=why))
            continue
        trained = TrainedModel.model_validate(result.data)
        native = NativeModel(
            id=f"{entry.name}/{instance}",
            model=entry.name,
            instance=instance,
            number=one.number,
            info=trained.info,
            note=trained.note,
            trained=TrainedInstance(seed=one.seed, **_curves(trained)),
        )
        found.setdefault(one.number, []).append(native_node(native, result.artifacts["model"]))
    if failed and not found:
        raise ModelError(
            f"None of the {len(failed)} trainings of {entry.name} ended with a model. The first, {failed[0].instance}: "
            f"{failed[0].why}"
        )
    return list(found.values()), failed


def _curves(trained: TrainedModel) -> dict[str, object]:
    return {name: getattr(trained, name) for name in ("curves", "n", "seconds", "memory_peak_bytes", "resumed")}


def _why(result: JobResult) -> str:
    return result.error.message if result.error is not None else f"it ended as {result.outcome}"
