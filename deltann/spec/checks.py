"""What no single field of a study can tell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from deltann.engines import ENGINES
from deltann.kinds.convert import DIRECT
from deltann.model import ENGINE_OF
from deltann.preprocess.recipes import NAMES
from deltann.preprocess.steps import Recipe
from deltann.spec.attack_checks import attack_mistakes
from deltann.spec.data import DataEntry
from deltann.spec.mistakes import hint
from deltann.spec.models import OWN, Study
from deltann.spec.training_checks import training_mistakes


def mistakes(study: Study) -> Iterator[str]:
    """A sentence for each, with the field's path."""
    yield from training_mistakes(study)
    yield from _recipes(study)
    yield from _directly(study)
    yield from _engines(study)
    yield from _mutations(study)
    yield from attack_mistakes(study)
    if study.compare.rbo_depth > study.compare.k:
        yield (
            f"compare.rbo_depth: {study.compare.rbo_depth} is deeper than the {study.compare.k} labels that compare.k "
            "keeps. Raise k or lower the depth."
        )


def data_sets(study: Study) -> Iterator[tuple[str, DataEntry]]:
    """Every data set that a study names, with the field's path."""
    yield "data", study.data
    for m, model in enumerate(study.models):
        if model.data is not None:
            yield f"models.{m}.data", model.data
        if model.train is not None and model.train.data is not None:
            yield f"models.{m}.train.data", model.train.data


def _mutations(study: Study) -> Iterator[str]:
    """Mutants that nothing of the study would run, or that are asked for twice."""
    if study.mutations and any(model.data is not None for model in study.models):
        yield "mutations: mutants are told apart by one data set. Leave the data of single models out."
    seen: set[str] = set()
    for index, entry in enumerate(study.mutations):
        for mutation in entry.mutations():
            if mutation.facts.level != "graph" and "tvm" not in study.engines:
                yield f"mutations.{index}: {mutation.operator} mutates what TVM makes. Add tvm to engines."
                break
            if mutation.name in seen:
                yield f"mutations.{index}: the mutant {mutation.name!r} is asked for twice. Leave one of them out."
                break
            seen.add(mutation.name)


def _recipes(study: Study) -> Iterator[str]:
    known = [*(recipe.name for recipe in study.recipes), *NAMES]
    for path, wanted in _wanted(study):
        name = wanted.name if isinstance(wanted, Recipe) else wanted
        if isinstance(wanted, Recipe) and name == OWN:
            yield f"{path}.name: {OWN!r} is what a native's own preprocessing is called. Choose another name."
        elif not isinstance(wanted, Recipe) and name not in known:
            yield f"{path}: there is no recipe {name!r}. {hint(name, known)}"


def _wanted(study: Study) -> Iterator[tuple[str, str | Recipe]]:
    """Every place where a recipe is named or written."""
    for index, recipe in enumerate(study.recipes):
        yield f"recipes.{index}", recipe
    for m, model in enumerate(study.models):
        for index, wanted in enumerate(model.preprocessing):
            yield f"models.{m}.preprocessing.{index}", wanted
        for n, native in enumerate(model.natives):
            if native.preprocessing is not None:
                yield f"models.{m}.natives.{n}.preprocessing", native.preprocessing


def _directly(study: Study) -> Iterator[str]:
    """Without the way through ONNX, a pair that has no direct tool would be left out in silence."""
    wanted = study.conversions
    if wanted.routes != ("direct",):
        return
    there_are = ", ".join(f"{source} → {target}" for source, target in sorted(DIRECT))
    if wanted.pairs == "all":
        if not DIRECT & set(product(wanted.frameworks, repeat=2)):
            yield f"conversions.routes: no two of conversions.frameworks have a direct tool; there are {there_are}."
        return
    for index, pair in enumerate(wanted.pairs):
        if pair not in DIRECT:
            yield (
                f"conversions.pairs.{index}: no tool converts {pair[0]} to {pair[1]} directly; there are {there_are}. "
                "Add onnx to conversions.routes or leave this pair out."
            )


def _engines(study: Study) -> Iterator[str]:
    """Choices of engines that do not take part, or that an engine does not have."""
    for engine, choices in study.engine_options.items():
        path, facts = f"engine_options.{engine}", ENGINES[engine]
        if engine == "tvm":
            yield f"{path}: TVM's levels, targets and precisions are chosen in compile. Move them there."
            continue
        if engine not in study.engines and not ("own" in study.engines and engine in ENGINE_OF.values()):
            yield f"{path}: {engine} does not take part. Add it to engines, or leave its options out."
        for what, asked, there_are in (
            ("levels", choices.levels, facts.levels),
            ("precisions", choices.precisions, facts.precisions),
            ("libraries", choices.libraries, facts.libraries),
        ):
            if asked and len(there_are) < 2:
                yield f"{path}.{what}: {engine} has no choice of {what}. Leave them out."
                continue
            for index, name in enumerate(asked or ()):
                if name not in there_are:
                    yield f"{path}.{what}.{index}: there is no {name!r}. {hint(name, list(there_are))}"
