"""Kind ``convert``: one step by one tool, described and checked against the model it started from."""

from __future__ import annotations

import logging
import os
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from deltann.engines import shown
from deltann.errors import JobFailure, UnsupportedError, first_line
from deltann.kinds.convert import ConvertData, ConvertParams, Parity, Step
from deltann.model import ENGINE_OF, ModelInfo
from deltann.outcome import Outcome
from deltann.service import JobContext, Produced
from deltann_converter.failure import reason
from deltann_converter.tools import select, versions
from deltann_converter.tools.base import Made, Options, Tool

_MAX_WARNINGS = 20
_DOING = {
    "convert": "convert the model",
    "describe": "write a model that loads again",
    "parity": "write a model that runs on the inputs of its source",
}
"""Stage → what the tool could not do, in a failure's message."""


@contextmanager
def collected() -> Iterator[list[str]]:
    """Python's warnings, and the warnings that tools log, each once."""
    lines: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    handler = Collector(logging.WARNING)
    logging.getLogger().addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            yield lines
        lines.extend(str(item.message) for item in caught)
    finally:
        logging.getLogger().removeHandler(handler)
        lines[:] = list(dict.fromkeys(line.strip().splitlines()[0][:300] for line in lines if line.strip()))[
            :_MAX_WARNINGS
        ]


def convert(params: ConvertParams, context: JobContext) -> Produced:
    """Convert role ``model`` and check the result against it.

    Raises:
        JobFailure: ``convert_failed`` with the tool's own reason; its traceback is in the job's log.
    """
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
    import torchvision  # noqa: F401  (has to come before TensorFlow, which any of the tools may import)
    from deltann_engines.describe import describe

    info = params.info or ModelInfo.model_validate(context.inputs["model"].data["info"])
    tool = select(params.source, params.target, info.format, params.tool)
    began = time.monotonic()
    with collected() as lines:
        made = _run(tool, params, info, context)
    seconds = time.monotonic() - began

    try:
        result = describe(
            made.path,
            made.format,
            output=info.output_kind,
            classes=info.classes,
            class_offset=info.class_offset,
        )
    except Exception as error:
        raise _failure(tool, "describe", error) from error
    parity, unchecked = _parity(params, context, info, made, result, tool)
    step = Step(
        tool=tool.name,
        version=versions(tool),
        route=tool.route,
        source=params.source,
        target=params.target,
        opset=result.opset,
        normalised=made.normalised,
        seconds=seconds,
        warnings=[*lines, *unchecked],
        size_before=info.size_bytes,
        size_after=result.size_bytes,
        checked_by="" if parity is None else shown(ENGINE_OF[params.target]),
    )
    data = ConvertData(info=result, step=step, parity=parity)
    return Produced(artifacts={"model": context.put_weights(made.path)}, data=data)


def _run(tool: Tool, params: ConvertParams, info: ModelInfo, context: JobContext) -> Made:
    try:
        return tool.convert(
            context.fetch("model"), info, context.workdir, Options(opset=params.opset, normalise=params.normalise)
        )
    except Exception as error:
        raise _failure(tool, "convert", error) from error


def _parity(
    params: ConvertParams, context: JobContext, info: ModelInfo, made: Made, result: ModelInfo, tool: Tool
) -> tuple[Parity | None, list[str]]:
    """Both sides on seeded inputs. A side that cannot be run makes the step a failed one: there is nothing to use.

    Where only the engine lacks something, the step is not checked: None, and why in words.
    """
    from deltann_engines.parity import parity

    try:
        checked: Parity = parity(context.fetch("model"), info, made.path, result, params.parity_inputs, params.seed)
        return checked, []
    except UnsupportedError as error:
        return None, [f"not checked against its source: {first_line(error)}"]
    except Exception as error:
        raise _failure(tool, "parity", error) from error


def _failure(tool: Tool, stage: str, error: Exception) -> JobFailure:
    if isinstance(error, JobFailure):
        return error
    traceback.print_exception(error)
    return JobFailure(
        Outcome.CONVERT_FAILED,
        stage,
        f"{tool.name} could not {_DOING[stage]}: {type(error).__name__}: {reason(error)}.",
    )
