"""The ways in which a study has a model run: engines with their options, and TVM's modules. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from deltann.engines import ENGINES, Engine, EngineOptions
from deltann.model import ENDS, ENGINE_OF
from deltann.spec.engines import EngineChoices
from deltann.spec.models import Study


@dataclass(frozen=True)
class Build:
    """How a model is run. ``level`` counts from the engine's lowest; None is what the engine does by itself."""

    engine: Engine
    target: str | None = None
    level: int | None = None
    schedule: str | None = None
    precision: str = "fp32"
    library: str = "default"

    @property
    def level_name(self) -> str | None:
        """The level as the engine calls it; None for TVM's, which are numbers, and where there is none."""
        names = ENGINES[self.engine].levels
        return names[self.level] if names and self.level is not None else None

    @property
    def options(self) -> EngineOptions:
        """What the engine is asked for when it runs the model: a level that a compiler was asked for is built in."""
        facts = ENGINES[self.engine]
        return EngineOptions(
            level=None if facts.compiler else self.level_name,
            precision=None if self.precision == facts.precisions[0] else self.precision,
            library=None if self.library == facts.libraries[0] else self.library,
        )


def builds(study: Study, own: Engine) -> list[Build]:
    """The builds of a model of which ``own`` is the framework's engine: that engine's first, each engine's once."""
    wanted = dict.fromkeys(own if name == "own" else name for name in study.engines)
    found: list[Build] = []
    for engine in sorted(wanted, key=lambda name: name != own):
        beside = engine == own or ENGINES[engine].beside == own
        if not beside and own in (ENGINE_OF[framework] for framework in ENDS):
            continue
        if engine == "tvm":
            found += _compiled(study)
        elif beside or ENGINES[engine].reads_onnx:
            found += _chosen(engine, study.engine_options.get(engine, EngineChoices()))
    return found


def _compiled(study: Study) -> Iterator[Build]:
    wanted = study.compile
    for target, level, schedule, precision in product(
        wanted.targets, wanted.levels, wanted.schedules, wanted.precisions
    ):
        yield Build("tvm", target, level, schedule, precision)


def _chosen(engine: Engine, choices: EngineChoices) -> Iterator[Build]:
    facts = ENGINES[engine]
    levels: list[int | None] = [facts.levels.index(name) for name in choices.levels or ()] or [None]
    for level, precision, library in product(
        levels, choices.precisions or facts.precisions[:1], choices.libraries or facts.libraries[:1]
    ):
        yield Build(engine, level=level, precision=precision, library=library)


def earlier(build: Build, own: Engine, before: Engine, study: Study) -> Build | None:
    """The build of the model one conversion earlier that a build is to be held against, where there is one.

    Args:
        build: of the converted model.
        own: the engine of the converted model's framework.
        before: the engine of the earlier model's framework.
        study: that has both.

    Returns:
        The same build. Of a framework's own engine, that of the other framework: its first for a first, else the one of
        the same level and library.
    """
    if build.engine != own or "own" not in study.engines:
        return build if build in builds(study, before) else None
    mine, theirs = _of(own, study), _of(before, study)
    if build == mine[0]:
        return theirs[0]
    return next((one for one in theirs if (one.level_name, one.library) == (build.level_name, build.library)), None)


def _of(engine: Engine, study: Study) -> list[Build]:
    return [one for one in builds(study, engine) if one.engine == engine]
