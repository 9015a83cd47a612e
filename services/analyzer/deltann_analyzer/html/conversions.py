"""The conversion matrix: source × target, telling what the converter lost from what the compiler lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from deltann.engines import ENGINES
from deltann.model import FRAMEWORKS
from deltann.outcome import Outcome
from deltann.report.models import Conversion, Report, Variant
from deltann_analyzer import wording

_COMPILER = (Outcome.COMPILE_FAILED, Outcome.IMPORT_MISMATCH)


def conversion_matrices(report: Report) -> list[dict[str, Any]]:
    """One matrix per model that has conversions, with all conversions of a cell."""
    made: dict[str, list[Variant]] = defaultdict(list)
    for variant in report.variants:
        if variant.conversion is not None:
            made[variant.conversion].append(variant)
    matrices = []
    for model in dict.fromkeys(conversion.model for conversion in report.conversions):
        own = [conversion for conversion in report.conversions if conversion.model == model]
        entries = sorted((_entry(conversion, made[conversion.id]) for conversion in own), key=_calm)
        sources = [framework for framework in FRAMEWORKS if framework in {conversion.source for conversion in own}]
        targets = [framework for framework in FRAMEWORKS if framework in {conversion.target for conversion in own}]
        cells = {
            (a, b): [entry for entry in entries if (entry["source"], entry["target"]) == (a, b)]
            for a in sources
            for b in targets
        }
        matrices.append(
            {
                "model": model,
                "sources": sources,
                "targets": targets,
                "cells": cells,
                "bad": [entry for entry in entries if not _calm(entry)],
                "good": [entry for entry in entries if _calm(entry)],
            }
        )
    return matrices


def _calm(entry: dict[str, Any]) -> bool:
    """Whether neither converter nor compiler has anything to say, so that what has comes first."""
    return entry["converter"] == "good" and entry["compiler"] in ("good", "none")


def _entry(conversion: Conversion, variants: Sequence[Variant]) -> dict[str, Any]:
    converter, said = _converter(conversion)
    compiler, lost = _compiler(conversion, variants)
    return {
        "id": conversion.id,
        "source": conversion.source,
        "target": conversion.target,
        "converter": converter,
        "converter_text": said,
        "compiler": compiler,
        "compiler_text": lost,
        "title": f"{conversion.source} → {conversion.target}" + ("" if conversion.normalise else " (raw)"),
        "way": " → ".join(conversion.chain),
        "conversion": conversion,
        "compiler_errors": [v for v in variants if v.error is not None and _is_compiler(v)],
    }


def _converter(conversion: Conversion) -> tuple[str, str]:
    if conversion.outcome is Outcome.SKIPPED:
        return "skipped", "not run: its source was lost"
    if not conversion.outcome.usable:
        return "fault", f"converter {wording.ended(conversion.outcome)}"
    if conversion.silent_fault is not None:
        return "silent", f"silent fault in step {conversion.silent_fault + 1}"
    rel = conversion.parity.max_rel if conversion.parity is not None else None
    return "good", f"within {wording.small(rel)}" if rel is not None else "converted"


def _compiled(variant: Variant) -> bool:
    return bool(ENGINES[variant.engine].compiler)


def _is_compiler(variant: Variant) -> bool:
    at_compiler = variant.error is not None and variant.error.stage in ("import", "compile")
    return variant.outcome in _COMPILER or (_compiled(variant) and at_compiler)


def _compiler(conversion: Conversion, variants: Sequence[Variant]) -> tuple[str, str]:
    compiled = [variant for variant in variants if _compiled(variant)]
    if not compiled or not conversion.outcome.usable:
        return "none", ""
    failed = [variant for variant in compiled if not variant.outcome.usable]
    if any(_is_compiler(variant) for variant in failed):
        return "fault", f"compiler failed: {len(failed)} of {len(compiled)}"
    if failed:
        return "warning", f"compiled; {len(failed)} of {len(compiled)} did not run"
    if any(variant.outcome is Outcome.IMPORT_MISMATCH for variant in compiled):
        return "silent", "import differs from its source"
    return "good", f"compiled {len(compiled)} of {len(compiled)}"
