"""The first plan of a sweep: models and data made into stored, described objects, and models trained."""

from __future__ import annotations

from dataclasses import dataclass

from deltann.digest import digest_value
from deltann.job import Job, Plan
from deltann.kinds.resolve import ResolveDataParams, ResolveModelParams
from deltann.kinds.train import TRAIN, TrainingFramework, TrainParams
from deltann.networks import NETWORKS
from deltann.networks.describe import network_info
from deltann.plan.build import PlanBuilder
from deltann.preprocess.recipes import resolve_recipe
from deltann.spec.data import DataEntry
from deltann.spec.models import ModelEntry, Native, Study


def sweep_id(study: Study) -> str:
    """The id of a staged study's sweep: its name and the digest of all that it says."""
    return f"{study.name[:40].lower()}-{digest_value(study.model_dump(mode='json', by_alias=True))[:16]}"


@dataclass(frozen=True)
class ToTrain:
    """A model that a job trains: the how-manieth instance of its configuration, counted from 1."""

    job: int
    number: int
    framework: TrainingFramework
    seed: int


@dataclass(frozen=True)
class ResolvePlan:
    """The resolve jobs of a study, and who is resolved by which.

    ``natives`` are, for each model, the jobs of its natives, where equal natives share one; ``data`` is the job of the
    study's data, ``own_data`` by model that of its own; ``trained`` are, for each model, the instances of it;
    ``calibration`` is by model that of its calibration set, where a scheme needs one.
    """

    jobs: tuple[Job, ...]
    natives: tuple[tuple[int, ...], ...]
    data: int
    own_data: dict[str, int]
    trained: tuple[tuple[ToTrain, ...], ...]
    calibration: dict[str, int]


def plan_resolve(study: Study) -> Plan:
    """``resolve_model`` jobs per native, in the study's order, ``resolve_data`` jobs, then ``train`` jobs."""
    return Plan(jobs=resolve_jobs(study).jobs)


def resolve_jobs(study: Study) -> ResolvePlan:
    """The jobs of :func:`plan_resolve`, and which of them is whose."""
    builder = PlanBuilder()
    natives = tuple(
        tuple(
            builder.add(
                "resolve_model",
                _params(native),
                sources={"file": native.file} if native.file else {},
                label=f"{model.name}: resolve {native.source}",
            )
            for native in model.natives
        )
        for model in study.models
    )
    data = _data(builder, study.data)
    own = {model.name: _data(builder, model.data) for model in study.models if model.data is not None}
    trained = tuple(_train(builder, study, model) for model in study.models)
    calibration = {}
    if study.quantize is not None and study.quantize.calibrated:
        for model in study.models:
            learnt = training_data(study, model) if model.train is not None else None
            calibration[model.name] = _data(builder, study.quantize.entry(model.data or study.data, learnt))
    return ResolvePlan(tuple(builder.jobs), natives, data, own, trained, calibration)


def _data(builder: PlanBuilder, data: DataEntry) -> int:
    part = "" if data.part is None else f", its {data.part} part"
    return builder.add(
        "resolve_data",
        ResolveDataParams.model_validate(data.model_dump(exclude={"archive"})),
        sources={"archive": data.archive} if data.archive else {},
        label=f"resolve the data {data.source}{part}",
    )


def training_data(study: Study, model: ModelEntry) -> DataEntry:
    """What a model is trained on: what it says, or the train part of what it is tested on."""
    if model.train is not None and model.train.data is not None:
        return model.train.data
    return (model.data or study.data).model_copy(update={"part": "train", "limit": None})


def _train(builder: PlanBuilder, study: Study, model: ModelEntry) -> tuple[ToTrain, ...]:
    if model.train is None:
        return ()
    network = NETWORKS[model.train.network]
    recipe = resolve_recipe(model.preprocessing[0], network_info(network), study.recipes)
    data = _data(builder, training_data(study, model))
    found = []
    for number, framework, seed in model.train.runs():
        job = builder.add(
            TRAIN,
            TrainParams(network=network.name, framework=framework, recipe=recipe, fit=model.train.fit, seed=seed),
            needs={"data": data},
            label=f"{model.name}: train {framework} instance {number}",
        )
        found.append(ToTrain(job, number, framework, seed))
    return tuple(found)


def _params(native: Native) -> ResolveModelParams:
    return ResolveModelParams(
        source=native.source,
        framework=native.framework,
        format=native.format,
        input_layout=native.input_layout,
        output=native.output,
        classes=native.classes,
        class_offset=native.class_offset,
        trust=native.trusted,
    )
