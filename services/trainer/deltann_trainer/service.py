"""The trainer's job kinds."""

from __future__ import annotations

from deltann.engines import ENGINES
from deltann.kinds import attack, train
from deltann.model import ENGINE_OF
from deltann.outcome import Outcome
from deltann.service import Kind, Service

_DISTRIBUTIONS: dict[train.TrainingFramework, tuple[str, ...]] = {
    "keras": ("keras", "numpy", "tensorflow"),
    "pytorch": ("numpy", "torch"),
}

TRAIN = Kind(
    name=train.TRAIN,
    params=train.TrainParams,
    handler="deltann_trainer.train:train",
    failure=Outcome.RUN_FAILED,
    affinity=lambda params: f"{params.framework} {params.network}",  # memory is measured of the process
    toolchain=lambda params: _DISTRIBUTIONS[params.framework],
    memory_mb=16_384,
    seconds=24 * 3600.0,
)

ATTACK = Kind(
    name=attack.ATTACK,
    params=attack.AttackParams,
    handler="deltann_trainer.attack.job:attack",
    failure=Outcome.RUN_FAILED,
    affinity=lambda params: f"attack {params.info.framework}",
    toolchain=lambda params: (*ENGINES[ENGINE_OF[params.info.framework]].distributions, "foolbox", "eagerpy", "numpy"),
    memory_mb=16_384,
    seconds=25 * 3600.0,
)

SERVICE = Service("trainer", (TRAIN, ATTACK))
