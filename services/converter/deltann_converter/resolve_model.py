"""Kind ``resolve_model``: what a study names becomes a stored, described model file."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from deltann.errors import JobFailure, ModelError
from deltann.kinds.resolve import ResolvedModel, ResolveModelParams
from deltann.model import Format
from deltann.outcome import Outcome
from deltann.service import JobContext, Produced
from deltann_converter.detect import detect_format
from deltann_converter.failure import reason
from deltann_converter.loaders import LOADERS, load

_ZOO = re.compile(r"^(?P<library>torchvision|keras):(?P<name>\w+)@(?P<weights>.+)$")
_RANDOM = re.compile(r"^random\(seed=(\d+)\)$")


@dataclass(frozen=True)
class Materialised:
    """A model file or folder, and what was substituted on the way to it."""

    path: Path
    format: Format
    note: str = ""


def resolve_model(params: ResolveModelParams, context: JobContext) -> Produced:
    """Materialise and describe one native model.

    Raises:
        JobFailure: ``run_failed`` in a paragraph for a person: not a model, truncated, no network, not trusted.
    """
    import torchvision  # noqa: F401  (has to come before TensorFlow)
    from deltann_engines.describe import describe

    made = _materialise(params, context)
    try:
        info = describe(
            made.path,
            made.format,
            input_layout=params.input_layout,
            output=params.output,
            classes=params.classes,
            class_offset=params.class_offset,
        )
    except ModelError as error:
        traceback.print_exc()
        raise _failure("describe", f"{params.source}: {error}") from error
    except Exception as error:
        traceback.print_exc()
        raise _failure(
            "describe",
            f"{params.source} was read as a {made.format} model, but does not run: "
            f"{type(error).__name__}: {reason(error)}. "
            "Check that it runs in its own framework, in the version that DeltaNN has installed.",
        ) from error
    return Produced(artifacts={"model": context.put_weights(made.path)}, data=ResolvedModel(info=info, note=made.note))


def _materialise(params: ResolveModelParams, context: JobContext) -> Materialised:
    if "file" in context.job.sources:
        path = context.fetch("file")
        found = detect_format(path)
        if params.format is not None and params.format != found:
            raise _failure("detect", f"{params.source} is declared as {params.format}, but it is a {found} model.")
        if found == "onnx" and path.is_dir():
            return Materialised(_one_file(path, context.workdir), found)
        return Materialised(path, found)
    if params.source in LOADERS:
        return Materialised(_save_torch(*load(params.source), context.workdir), "pt2")
    if (zoo := _ZOO.match(params.source)) is not None:
        make = _torchvision if zoo["library"] == "torchvision" else _keras
        return make(zoo["name"], zoo["weights"], context.workdir)
    if params.source.startswith(("torchvision:", "keras:")):
        library, _, name = params.source.partition(":")
        raise _failure(
            "resolve",
            f"The model {params.source!r} names no weights. Write {library}:{name}@DEFAULT for torchvision, "
            f"{library}:{name}@imagenet for keras, or {library}:{name}@random(seed=1) for neither.",
        )
    if ":" in params.source:
        return _from_code(params, context.workdir)
    raise _failure(
        "resolve", f"There is no model {params.source!r}: it is neither a file nor a loader ({', '.join(LOADERS)})."
    )


def _failure(stage: str, message: str) -> JobFailure:
    return JobFailure(Outcome.RUN_FAILED, stage, message)


def _one_file(folder: Path, workdir: Path) -> Path:
    """An ONNX model with its external data taken in, since what reads it later takes one file."""
    import onnx

    (model,) = folder.glob("*.onnx")
    path = workdir / model.name
    onnx.save(onnx.load(model), path)
    return path


def _save_torch(module: Any, shape: tuple[int, ...], folder: Path) -> Path:
    import torch
    from deltann_engines.torch_program import save_program

    return save_program(module, torch.zeros(shape), folder / "model.pt2")


def _torchvision(name: str, weights: str, folder: Path) -> Materialised:
    import torch
    import torchvision

    if name not in torchvision.models.list_models(module=torchvision.models):
        raise _failure("resolve", f"torchvision has no classification model {name!r}.")
    side = 299 if name == "inception_v3" else 224
    if (seed := _RANDOM.match(weights)) is not None:
        from deltann_converter.random_weights import randomise_torch

        torch.manual_seed(int(seed[1]))
        extra = {"aux_logits": False, "init_weights": True} if name == "inception_v3" else {}
        module = torchvision.models.get_model(name, weights=None, **extra)
        randomise_torch(module, (side, side), int(seed[1]))
        note = f"random weights with seed {seed[1]}, not the published ones"
        return Materialised(_save_torch(module, (1, 3, side, side), folder), "pt2", note)
    try:
        module = torchvision.models.get_model(name, weights=weights)
    except Exception as error:
        raise _no_weights("torchvision", name, weights, error) from error
    return Materialised(_save_torch(module, (1, 3, side, side), folder), "pt2")


def _keras(name: str, weights: str, folder: Path) -> Materialised:
    import keras

    maker = getattr(keras.applications, name, None)
    if not callable(maker):
        raise _failure("resolve", f"keras.applications has no model {name!r}.")
    path = folder / "model.keras"
    if (seed := _RANDOM.match(weights)) is not None:
        from deltann_converter.random_weights import randomise_keras

        keras.utils.set_random_seed(int(seed[1]))
        model = maker(weights=None)
        randomise_keras(model, tuple(model.input_shape[1:3]), int(seed[1]))
        model.save(path)
        return Materialised(path, "keras", f"random weights with seed {seed[1]}, not the published ones")
    try:
        model = maker(weights=weights)
    except Exception as error:
        raise _no_weights("keras", name, weights, error) from error
    model.save(path)
    return Materialised(path, "keras")


def _no_weights(library: str, name: str, weights: str, error: Exception) -> JobFailure:
    traceback.print_exc()
    return _failure(
        "download",
        f"{library} could not give {name} with the weights {weights!r}: "
        f"{reason(error)}. "
        "Without a network, download the file elsewhere and name it as the source, or use "
        f"{library}:{name}@random(seed=1), whose labels mean nothing but whose conversions and times do.",
    )


def _from_code(params: ResolveModelParams, folder: Path) -> Materialised:
    """``module:function`` runs a person's own code, so only where they said so."""
    if not params.trust:
        raise _failure(
            "resolve",
            f"The model {params.source!r} is made by running code, which was not allowed. "
            "Run the sweep with --trust if you know this code; a gateway never runs it.",
        )
    module_name, _, function = params.source.partition(":")
    try:
        model = getattr(import_module(module_name), function)()
    except Exception as error:
        traceback.print_exc()
        raise _failure("resolve", f"{params.source} failed: {type(error).__name__}: {reason(error)}.") from error
    import torch

    if isinstance(model, torch.nn.Module):
        return Materialised(_save_torch(model, (1, 3, 224, 224), folder), "pt2")
    path = folder / "model.keras"
    model.save(path)
    return Materialised(path, "keras")
