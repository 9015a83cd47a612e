"""What no single field can tell of the models that a study trains."""

from __future__ import annotations

from collections.abc import Iterator

from deltann.networks import NETWORKS, TokenInput
from deltann.spec.data import DataEntry
from deltann.spec.mistakes import hint
from deltann.spec.models import ModelEntry, Study


def training_mistakes(study: Study) -> Iterator[str]:
    """A sentence for each model that comes of nothing, of two things, or of a training that cannot be as written."""
    for m, model in enumerate(study.models):
        path = f"models.{m}"
        if bool(model.natives) == (model.train is not None):
            both = "both natives and train" if model.natives else "neither natives nor train"
            yield f"{path}: the model {model.name} has {both}. Name its natives, or say how it is trained."
        elif model.train is not None and model.train.network not in NETWORKS:
            known = hint(model.train.network, list(NETWORKS))
            yield f"{path}.train.network: there is no {model.train.network!r}. {known}"
        elif model.train is not None:
            tested = (f"{path}.data", model.data) if model.data else ("data", study.data)
            yield from _kept_apart(model, f"{path}.train.data", *tested)
            yield from _tokens(model, f"{path}.train.data", *tested)


def _kept_apart(model: ModelEntry, path: str, tested_path: str, tested: DataEntry) -> Iterator[str]:
    """No input is in both what a model is trained on and what it is tested on."""
    trained = model.train.data if model.train is not None else None
    if trained is not None and trained.source != tested.source:
        return
    if tested.part != "test":
        yield (
            f"{tested_path}.part: {model.name} would be tested on what it is trained on, {tested.source}. Write "
            "part: test."
        )
    elif trained is not None and trained.part != "train":
        yield (
            f"{path}.part: {model.name} would be trained on what it is tested on, {tested.source}. Write part: train, "
            "or leave the data of train out, which means that."
        )
    elif trained is not None and trained.split != tested.split:
        yield (
            f"{path}.split: {model.name} would be trained on some of what it is tested on, since {tested.source} is "
            f"parted in another way in {tested_path}. Write the same split in both."
        )


def _tokens(model: ModelEntry, path: str, tested_path: str, tested: DataEntry) -> Iterator[str]:
    """Tokens as the network takes them, which mean the same in both parts."""
    assert model.train is not None
    takes, trained = NETWORKS[model.train.network].input, model.train.data
    if not isinstance(takes, TokenInput):
        return
    for where, data in ((tested_path, tested), *(((path, trained),) if trained is not None else ())):
        asked = data.tokens
        if (asked.length, asked.vocabulary) != (takes.length, takes.vocabulary):
            yield (
                f"{where}.tokens: {model.train.network} takes {takes.length} tokens of a vocabulary of "
                f"{takes.vocabulary}, not {asked.length} of {asked.vocabulary}. Write those."
            )
    arrays = trained is not None and trained.source.endswith(".npz") and tested.source.endswith(".npz")
    if trained is not None and trained.source != tested.source and not arrays:
        yield (
            f"{path}.source: words have other tokens in {trained.source} than in {tested.source}. Train on the other "
            "part of one set, or make the tokens yourself and give them as two .npz files."
        )
