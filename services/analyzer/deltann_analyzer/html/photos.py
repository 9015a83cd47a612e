"""The inputs whose label changed, with a thumbnail where they are photos, and what each variant said of them."""

from __future__ import annotations

import base64
import io
import zipfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from deltann.errors import StoreError
from deltann.kinds.resolve import DataManifest
from deltann.plan.context import SweepContext
from deltann.store.base import ArtifactStore
from deltann_analyzer.assemble import Analysis
from deltann_analyzer.measured import Measured

MAX_SHOWN = 24
_SIDE = 144


def changed_inputs(analysis: Analysis, context: SweepContext, store: ArtifactStore) -> dict[str, Any]:
    """Per model the inputs that its variants do not agree on, the most disputed first.

    Returns:
        ``cards``, at most 24, and ``of``, the number of all (model, input) that are disputed.
    """
    disputed: list[tuple[float, str, int]] = []
    for model in dict.fromkeys(one.plan.model for one in analysis.measured):
        known = [one for one in analysis.measured if one.plan.model == model and one.labels is not None]
        for row in range(context.manifest_of(model).n if len(known) > 1 else 0):
            said = Counter(_answer(one, row) for one in known)
            said.pop(-1, None)
            if len(said) > 1:
                disputed.append((1 - max(said.values()) / said.total(), model, row))
    disputed.sort(key=lambda one: (-one[0], one[2]))
    shown = disputed[:MAX_SHOWN]
    pictures: dict[tuple[str, int], str] = {}
    for model in dict.fromkeys(model for _, model, _ in shown):
        manifest = context.manifest_of(model)
        rows = [row for _, of, row in shown if of == model]
        found = _thumbnails(manifest, store, rows) if manifest.kind == "images" else {}
        pictures |= {(model, row): picture for row, picture in found.items()}
    return {
        "of": len(disputed),
        "cards": [
            {
                "model": model,
                "id": context.manifest_of(model).ids[row],
                "truth": context.manifest_of(model).labels[row],
                "picture": pictures.get((model, row)),
                "answers": _answers(analysis, model, row),
            }
            for _, model, row in shown
        ],
    }


def _answer(one: Measured, row: int) -> int:
    return -1 if one.labels is None else int(one.labels[row, 0])


def _answers(analysis: Analysis, model: str, row: int) -> list[dict[str, Any]]:
    """What was answered, the most common first, and by whom."""
    by_label: dict[int, list[Measured]] = defaultdict(list)
    for one in analysis.measured:
        if one.plan.model == model and one.labels is not None:
            by_label[_answer(one, row)].append(one)
    return [
        {
            "label": None if label < 0 else label,
            "score": _score(who, row),
            "who": [analysis.names[one.plan.id].removeprefix(f"{model}: ") for one in who],
        }
        for label, who in sorted(by_label.items(), key=lambda item: -len(item[1]))
    ]


def _score(who: Sequence[Measured], row: int) -> str:
    """The scores of the answer, as a range; logits and probabilities apart."""
    spaces: dict[str, list[float]] = defaultdict(list)
    for one in who:
        if one.scores is not None and one.executed is not None and np.isfinite(one.scores[row, 0]):
            spaces[{"logits": "logit", "probabilities": "probability"}.get(one.executed.space, "value")].append(
                float(one.scores[row, 0])
            )
    texts = []
    for space, scores in spaces.items():
        low, high = f"{min(scores):.3g}", f"{max(scores):.3g}"
        texts.append(f"{space} {low}" if low == high else f"{space} {low} to {high}")
    return ", ".join(texts)


def _thumbnails(manifest: DataManifest, store: ArtifactStore, rows: Sequence[int]) -> dict[int, str]:
    """Small JPEGs as data URIs by input; a photo that cannot be read has none."""
    found: dict[int, str] = {}
    for shard in manifest.shards:
        inside = [row for row in dict.fromkeys(rows) if shard.start <= row < shard.stop]
        if not inside:
            continue
        try:
            archive = zipfile.ZipFile(io.BytesIO(store.read(shard.blob)))
        except (StoreError, zipfile.BadZipFile):
            continue
        with archive:
            for row in inside:
                picture = _thumbnail(archive, f"{row - shard.start:06d}")
                if picture is not None:
                    found[row] = picture
    return found


def _thumbnail(archive: zipfile.ZipFile, member: str) -> str | None:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(archive.read(member))) as image:
            small = image.convert("RGB")
    except (KeyError, OSError, UnidentifiedImageError):
        return None
    small.thumbnail((_SIDE, _SIDE))
    out = io.BytesIO()
    small.save(out, "JPEG", quality=72, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()
