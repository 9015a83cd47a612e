"""The study: what a YAML file may say. Published as JSON Schema by ``deltann spec schema``."""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from deltann.artifact import ArtifactRef
from deltann.base import Data
from deltann.engines import Engine
from deltann.kinds.compile import LEVELS, LevelName, Precision, Schedule
from deltann.kinds.convert import Route
from deltann.model import Format, Framework, Layout, OutputKind
from deltann.passes import PassChoice
from deltann.preprocess.steps import Recipe
from deltann.spec.attacks import ChosenAttacks
from deltann.spec.data import DataEntry
from deltann.spec.engines import ChosenOptions
from deltann.spec.lists import Distinct, Listed, Slug, Some
from deltann.spec.mutations import ChosenMutants
from deltann.spec.training import Training
from deltann.targets import HOST, Target

Axis = Literal[
    "framework", "conversion", "preprocessing", "engine", "target", "optimization",
    "schedule", "precision", "library", "device", "mutation",
]  # fmt: skip

OWN = "own"
"""What the first preprocessing is called where natives have their own."""


class Native(Data):
    """One native model: its source, and what cannot be detected or shall not be."""

    source: str = Field(
        min_length=1,
        description="A model file or SavedModel folder; torchvision:NAME@WEIGHTS; keras:NAME@WEIGHTS "
        "(WEIGHTS may be random(seed=N)); the name of a ready loader (efficientnet_lite0); module:function",
    )
    framework: Framework | None = Field(default=None, description="Where the file's name does not tell")
    format: Format | None = None
    input_layout: Layout | None = None
    output: OutputKind | None = Field(default=None, description="Detected by running the model where not given")
    preprocessing: str | Recipe | None = Field(
        default=None, description="How this native is fed, where natives were trained apart; called 'own' in the report"
    )
    classes: int | None = Field(default=None, ge=1)
    class_offset: int | None = Field(default=None, ge=0, description="Leading background classes; 1001 classes mean 1")
    file: ArtifactRef | None = Field(default=None, description="Set by staging: the stored file; never written by hand")
    trusted: bool = Field(default=False, description="Set by staging with --trust; a gateway never takes it")


def _file(native: Native) -> tuple[str, ArtifactRef | None]:
    return native.source, native.file


def _recipe_name(recipe: str | Recipe) -> str:
    """Variants are told apart by it."""
    return recipe.name if isinstance(recipe, Recipe) else recipe


class ModelEntry(Data):
    """A model under study: natives of it, or how it is trained, and the ways its inputs are prepared."""

    name: Slug
    natives: Annotated[
        tuple[Native, ...],
        Field(min_length=1, exclude_if=operator.not_),
        Distinct(_file, "is the model of entry {before}: name each native once"),
    ] = ()
    train: Training | None = Field(default=None, description="In place of natives: what they come of")
    data: DataEntry | None = Field(default=None, description="Its own inputs; null: those of the study")
    preprocessing: Annotated[tuple[str | Recipe, ...], Field(min_length=1), Distinct(_recipe_name)] = Field(
        description="Names of ready recipes or recipes; the first is the reference, more make an axis"
    )


def _steps(chain: tuple[Framework, ...]) -> tuple[Framework, ...]:
    if any(a == b for a, b in pairwise(chain)):
        raise PydanticCustomError("chain", "should name no framework twice in a row")
    return chain


Pair = Annotated[
    tuple[Framework, Framework], Distinct(says="is the framework that it starts from: name two different ones")
]
Chain = Annotated[tuple[Framework, ...], Field(min_length=2), AfterValidator(_steps)]


class Conversions(Data):
    """Which conversions to make. Routes and normalising may each be a list; every combination is made."""

    frameworks: Annotated[tuple[Framework, ...], Field(min_length=2), Distinct()] = (
        "pytorch",
        "keras",
        "tensorflow",
        "tflite",
    )
    pairs: Literal["all"] | Listed[Pair] = Field(
        default=(),
        description="'all': every ordered pair of `frameworks`. A source without a native is first derived from the "
        "model's first native",
    )
    chains: Listed[Chain] = Field(
        default=(), description="Explicit chains, e.g. [keras, tflite, onnx, keras]; every step is one conversion step"
    )
    routes: Some[Route] = ("onnx",)
    normalise: Some[bool] = (True,)
    tools: dict[Framework, Some[Slug]] = Field(default={}, description="For a target framework, the tools to compare")
    opset: int = Field(default=17, ge=9, le=25)
    include_onnx: bool = Field(default=False, description="Run the ONNX in between as variants of their own")


def _level(value: object) -> object:
    """Names of levels stand for their numbers."""
    return LEVELS.get(value, value) if isinstance(value, str) else value


_Number = Annotated[int, Field(ge=0, le=4)]
Level = Annotated[_Number, BeforeValidator(_level, json_schema_input_type=_Number | LevelName)]


class Compile(PassChoice):
    """What the compiler makes of every model. Levels are 0 to 4, or basic (0), default (2), extended (4).

    ``enable`` and ``disable`` add single passes to every level, or leave them out.
    """

    levels: Some[Level] = (0, 2, 4)
    targets: Some[Target] = (HOST,)
    schedules: Some[Schedule] = ("standard",)
    precisions: Some[Precision] = ("fp32",)


class Timing(Data):
    """How timings are taken: the first `inputs` inputs, `repeats` times each, after `warmup` inferences."""

    inputs: int = Field(default=10, ge=1)
    repeats: int = Field(default=10, ge=1)
    warmup: int = Field(default=3, ge=0)


class Compare(Data):
    """How outputs are compared, and which pairs."""

    axes: Some[Axis] | Literal["all"] = "all"
    all_pairs: bool = Field(default=False, description="Also every pair that differs along more than one axis")
    k: int = Field(default=5, ge=1, le=100)
    rbo_p: float = Field(default=0.9, gt=0, lt=1)
    rbo_depth: int = Field(default=5, ge=1, le=100)
    bootstrap_seed: int = 0
    bisect: bool = Field(
        default=False,
        exclude_if=lambda wanted: not wanted,
        description="Where levels or precisions of TVM answer differently, find the pass and the operators that do it",
    )
    keep_outputs: bool | None = Field(
        default=None, description="Whole outputs; null: where there are at most 1,000 inputs"
    )


class Gates(Data):
    """Limits that decide exit code 1. A gate that is not given is not checked."""

    max_disagreement: float | None = Field(
        default=None, ge=0, le=1, description="Share of labels, over pairs of `axes`"
    )
    max_slowdown: float | None = Field(default=None, gt=0, description="Percent, of a higher level against a lower one")
    deadline_ms: float | None = Field(default=None, gt=0)
    max_deadline_miss: float = Field(default=0.0, ge=0, le=1, description="Share of timed inferences over deadline_ms")
    axes: Some[Axis] = Field(default=("conversion", "optimization"), description="Pairs that max_disagreement judges")

    model_config = Data.model_config | {"allow_inf_nan": False}


class Localization(Data):
    """Which node of a conversion is wrong: looked for where the conversion's own check saw that the model changed."""

    inputs: int = Field(default=16, ge=1, le=1_000, description="The first so many inputs")
    always: bool = Field(default=False, description="Also where the conversion's own check saw nothing")


class Study(Data):
    """A whole study."""

    schema_: Literal["deltann.study/1"] = Field(alias="schema")
    name: Slug
    models: Annotated[
        tuple[ModelEntry, ...],
        Field(min_length=1),
        Distinct(lambda model: model.name, "has the name of entry {before}: give each a name of its own"),
    ]
    data: DataEntry
    conversions: Conversions = Conversions()
    engines: Some[Literal["own", Engine]] = ("own", "tvm")
    engine_options: ChosenOptions = {}
    preprocessing_on: Literal["natives", "all"] = Field(
        default="natives",
        description="Where more than the first preprocessing is run: natives in their own engine, or all",
    )
    localize: Localization | None = Field(
        default=Localization(), description="Look for the nodes that a conversion got wrong; null: not at all"
    )
    compile: Compile = Compile()
    mutations: ChosenMutants = ()
    attacks: ChosenAttacks = ()
    pools: Some[Slug] = ("cpu",)
    threads: int = Field(default=1, ge=1, le=256)
    timing: Timing | None = Timing()
    compare: Compare = Compare()
    gates: Gates = Gates()
    recipes: Annotated[tuple[Recipe, ...], Distinct(_recipe_name)] = Field(
        default=(), description="Recipes of this study's own, to name in preprocessing"
    )
    environment: str = Field(
        default="", description="Set where it is submitted: what it is computed with; never written by hand"
    )

    model_config = Data.model_config | {"populate_by_name": True, "serialize_by_alias": True}
