"""The converter's handlers on tiny models that are made here, in this process, with a store in a temporary folder."""

import os
from importlib import import_module

import pytest
from deltann_converter.service import SERVICE

from deltann.job import Job, JobResult
from deltann.service import JobContext
from deltann.store import open_store

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


class Converter:
    """Calls handlers as a worker's child does, and keeps each converted model for the next test that wants it."""

    def __init__(self, folder):
        self._folder = folder
        self.store = open_store(str(folder / "store"))
        self.cache = folder / "cache"
        self._known = {}

    def call(self, kind, params, sources=None, inputs=None):
        known = SERVICE.kind(kind)
        valid = known.params.model_validate(params)
        module, _, name = known.handler.partition(":")
        job = Job(
            index=0,
            kind=kind,
            params=valid.model_dump(mode="json"),
            queue="converter",
            job_id="0",
            sources=sources or {},
        )
        self._folder.joinpath("work").mkdir(exist_ok=True)
        workdir = self._folder / "work" / str(len(list(self._folder.joinpath("work").iterdir())))
        workdir.mkdir()
        context = JobContext(
            store=self.store, sweep="s", job=job, inputs=inputs or {}, workdir=workdir, cache=self.cache
        )
        return getattr(import_module(module), name)(valid, context)

    def resolve(self, path, **params):
        return self.call("resolve_model", {"source": path.name, **params}, {"file": self.store.put_path(path)})

    def step(self, native, *targets, **params):
        """The last step of native → target → …; ``params`` are those of that last step."""
        key = (id(native), targets, repr(params))
        if key not in self._known:
            before = native if len(targets) == 1 else self.step(native, *targets[:-1])
            result = JobResult(
                kind="convert",
                result_key="",
                outcome="ok",
                artifacts=before.artifacts,
                data=before.data.model_dump(mode="json"),
            )
            source = before.data.info.framework
            self._known[key] = self.call(
                "convert", {"source": source, "target": targets[-1], **params}, inputs={"model": result}
            )
        return self._known[key]


@pytest.fixture(scope="session")
def converter(tmp_path_factory):
    return Converter(tmp_path_factory.mktemp("converter"))


@pytest.fixture(scope="session")
def torch_native(converter, tmp_path_factory):
    """A tiny classifier: NCHW 32 × 32, batch norms with statistics of their own, a depthwise convolution, logits."""
    import torch
    import torchvision  # noqa: F401  (before TensorFlow)
    from deltann_converter.random_weights import randomise_torch
    from torch import nn

    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU6(),
        nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )
    randomise_torch(network, (32, 32), 0)
    path = tmp_path_factory.mktemp("torch") / "tiny.pt2"
    batch = torch.export.Dim("batch", min=1, max=64)
    program = torch.export.export(network, (torch.zeros(2, 3, 32, 32),), dynamic_shapes=({0: batch},), strict=False)
    torch.export.save(program, path)
    script = path.with_suffix(".pt")
    torch.jit.save(torch.jit.trace(network, torch.zeros(1, 3, 32, 32)), script)
    return converter.resolve(path)


@pytest.fixture(scope="session")
def script_native(converter, torch_native, tmp_path_factory):
    return converter.resolve(tmp_path_factory.getbasetemp() / "torch0" / "tiny.pt")


@pytest.fixture(scope="session")
def keras_native(converter, tmp_path_factory):
    """A tiny classifier: NHWC 32 × 32, explicit padding, probabilities."""
    import torchvision  # noqa: F401  # isort: skip
    import keras
    from deltann_converter.random_weights import randomise_keras
    from keras import layers

    keras.utils.set_random_seed(0)
    network = keras.Sequential(
        [
            layers.Input((32, 32, 3)),
            layers.Conv2D(16, 3, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(6.0),
            layers.ZeroPadding2D(1),
            layers.DepthwiseConv2D(3),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.GlobalAveragePooling2D(),
            layers.Dense(10, activation="softmax"),
        ]
    )
    randomise_keras(network, (32, 32), 0)
    path = tmp_path_factory.mktemp("keras") / "tiny.keras"
    network.save(path)
    return converter.resolve(path)
