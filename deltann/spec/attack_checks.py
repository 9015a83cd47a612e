"""What no single field can tell of the attacks of a study."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from deltann.kinds.attack import WITH_GRADIENTS, Fgsm, Genetic
from deltann.networks import NETWORKS, TokenInput
from deltann.spec.attacks import AttackEntry
from deltann.spec.mistakes import hint
from deltann.spec.models import ModelEntry, Native, Study

_WITHOUT_GRADIENTS = {".onnx": "onnx", ".tflite": "tflite", ".pb": "tensorflow"}


def attack_mistakes(study: Study) -> Iterator[str]:
    """A sentence for each attack that none of its models can be put to."""
    for index, entry in enumerate(study.attacks):
        path = f"attacks.{index}"
        if not isinstance(entry, Genetic) and entry.bounds[0] >= entry.bounds[1]:
            yield f"{path}.bounds: {list(entry.bounds)} are no range. Write the least value, then the largest."
        known = [model.name for model in study.models]
        yield from (
            f"{path}.models: there is no model {name!r}. {hint(name, known)}"
            for name in entry.models or ()
            if name not in known
        )
        chosen = [model for model in study.models if entry.models is None or model.name in entry.models]
        unfit = [why for model in chosen if (why := _unfit(entry, model))]
        if unfit and (entry.models is not None or len(unfit) == len(chosen)):
            yield f"{path}.models: {unfit[0]}"
        elif isinstance(entry, Fgsm):
            for model in chosen:
                yield from _gradients(path, model)


def takes_words(model: ModelEntry) -> bool | None:
    """Whether a model is given words; None where only its data will tell."""
    if model.train is None or model.train.network not in NETWORKS:
        return None
    return isinstance(NETWORKS[model.train.network].input, TokenInput)


def _unfit(entry: AttackEntry, model: ModelEntry) -> str | None:
    words = takes_words(model)
    if isinstance(entry, Genetic) and words is False:
        return (
            f"the genetic attack replaces words, and {model.name} takes images. Name models of words, or attack it by "
            "fgsm or boundary."
        )
    if not isinstance(entry, Genetic) and words:
        return (
            f"{entry.kind} moves the values of images, and {model.name} takes words, which have none in between. "
            "Attack it by genetic."
        )
    return None


def _gradients(path: str, model: ModelEntry) -> Iterator[str]:
    for native in model.natives:
        framework = _framework(native)
        if framework is not None and framework not in WITH_GRADIENTS:
            yield f"{path}.models: {no_gradients(native.source, model.name, framework)}"


def no_gradients(source: str, model: str, framework: str) -> str:
    """Why a native cannot be attacked by its gradient, and what to do."""
    return (
        f"fgsm follows the model's gradient, and {source} of {model} is a model of {framework}, which gives none. Name "
        "models that are native to keras or pytorch, or attack it by boundary, which needs labels alone."
    )


def _framework(native: Native) -> str | None:
    return native.framework or _WITHOUT_GRADIENTS.get(PurePosixPath(native.source).suffix)
