"""What a sweep's plan tells its analysis: the variants and conversions, each with the jobs that make them."""

from __future__ import annotations

from pydantic import Field

from deltann.base import Data
from deltann.engines import Engine
from deltann.kinds.resolve import DataManifest
from deltann.kinds.train import Epoch
from deltann.model import Framework, ModelInfo
from deltann.preprocess.steps import Recipe
from deltann.spec.models import Study


class TrainedInstance(Data):
    """How the training of a model went; as :class:`deltann.kinds.train.TrainedModel` has it."""

    seed: int
    curves: tuple[Epoch, ...]
    n: int
    seconds: float
    memory_peak_bytes: int
    resumed: int


class Untrained(Data):
    """A training that gave no model, and why."""

    model: str
    instance: str
    why: str


class NativeModel(Data):
    """A resolved or trained native. ``id`` is ``<model>/<instance>``.

    Of a configuration that is trained several times, ``number`` tells the instances apart, counted from 1: those of one
    number began with the same weights in every framework.
    """

    id: str
    model: str
    instance: str
    number: int = 1
    info: ModelInfo
    note: str = ""
    trained: TrainedInstance | None = None
    preprocessing: str | Recipe | None = Field(default=None, description="Its own, where the study gives it one")


class ConversionPlan(Data):
    """A conversion as a person counts it: from one framework to another, in one step or more.

    ``native`` is the id of the native it starts from; ``chain`` are the frameworks passed from there,
    first to last; ``source`` and ``target`` are the two ends of THIS conversion, so the steps before ``source``
    (there where the source itself had to be derived) are not counted as its own. ``jobs`` are its convert jobs,
    in order; ``source_variant_job`` is the job that made the source model, null where it is the native.
    """

    id: str
    model: str
    native: str
    chain: tuple[Framework, ...]
    source: Framework
    target: Framework
    normalise: bool = True
    jobs: tuple[int, ...]
    source_variant_job: int | None = None


class VariantPlan(Data):
    """A variant, in the words of architecture.md, and the indices of the jobs that make it."""

    id: str
    model: str
    instance: str
    number: int = Field(default=1, description="Of a trained instance, as its native has it")
    source: Framework = Field(description="Framework of the native it comes from")
    framework: Framework = Field(description="Framework that the variant is in, after its chain")
    chain: tuple[str, ...] = Field(default=(), description="Tools and frameworks passed, empty for a native")
    conversion: str | None = Field(default=None, description="Id of the conversion that made it")
    parent: str | None = Field(default=None, description="Id of the same build of the model one conversion earlier")
    engine: Engine
    target: str | None = None
    opt_level: int | None = None
    schedule: str | None = None
    precision: str = "fp32"
    library: str = "default"
    preprocessing: str
    mutation: str | None = None
    operator: str | None = Field(default=None, description="Of the mutation")
    original: str | None = Field(default=None, description="Id of the variant that is alike but for the mutation")
    pool: str
    convert_jobs: tuple[int, ...] = ()
    mutate_job: int | None = None
    read_job: int | None = Field(default=None, description="Conversion to the ONNX that its engine or compiler reads")
    import_job: int | None = None
    compile_job: int | None = None
    execute_jobs: tuple[int, ...]
    time_job: int | None = None
    bisect_job: int | None = Field(default=None, description="Holds it against the variant `against`")
    against: str | None = Field(default=None, description="Id of the first level or precision, where it is bisected")


class LocalizationPlan(Data):
    """The job that looks for the nodes which a conversion step got wrong; both are indices of jobs."""

    step: int
    job: int


class AttackPlan(Data):
    """An attack on a native: its job, and the jobs that run variants over what it makes, by the variants' ids.

    ``original`` is the variant that is attacked, the native in its own engine.
    """

    attack: str
    native: str
    original: str
    job: int
    runs: dict[str, int]


class SweepContext(Data):
    """The context of a sweep's plan."""

    sweep: str
    study: Study
    manifest: DataManifest
    manifests: dict[str, DataManifest] = Field(default={}, description="By model: of those with data of their own")
    natives: tuple[NativeModel, ...]
    untrained: tuple[Untrained, ...] = ()
    conversions: tuple[ConversionPlan, ...]
    variants: tuple[VariantPlan, ...]
    localizations: tuple[LocalizationPlan, ...] = ()
    attacks: tuple[AttackPlan, ...] = ()

    def manifest_of(self, model: str) -> DataManifest:
        """The inputs that a model is given."""
        return self.manifests.get(model, self.manifest)
