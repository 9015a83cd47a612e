"""Kind ``execute``: labels, and whole outputs where asked, of one shard of inputs."""

from __future__ import annotations

import numpy as np
from deltann_engines.memory import peak_memory, reset_peak_memory

from deltann.align import align, top_k, valid_rows
from deltann.errors import JobFailure
from deltann.job import JobError
from deltann.kinds.execute import ExecuteData, ExecuteParams
from deltann.outcome import Outcome
from deltann.service import JobContext, Produced
from deltann_executor.loaded import load_inputs, load_model, run_failure


def execute(params: ExecuteParams, context: JobContext) -> Produced:
    """Run a model or module over a shard, batch 1.

    Raises:
        JobFailure: ``run_failed`` where the model cannot be loaded, fed or run.
    """
    reset_peak_memory()
    loaded = load_model(params, context)
    inputs = load_inputs(params, loaded.info, context)
    if not params.whole and len(inputs) != params.stop - params.start:
        raise JobFailure(
            Outcome.RUN_FAILED, "preprocess", f"the shard holds {len(inputs)} inputs, not {params.stop - params.start}"
        )
    rows = []
    for position, x in enumerate(inputs):
        try:
            rows.append(loaded.session.run(x).reshape(-1))
        except Exception as error:
            raise run_failure(params, error, params.start + position) from error
    aligned, space = align(np.stack(rows), loaded.info)
    labels, scores = top_k(aligned, params.k)
    valid = valid_rows(aligned)

    path = context.workdir / "outputs.npz"
    arrays = {"labels": labels, "scores": scores, "valid": valid}
    if params.keep_outputs:
        arrays["outputs"] = aligned
    np.savez(path, **arrays)  # type: ignore[arg-type]

    invalid = int((~valid).sum())
    data = ExecuteData(
        n=len(rows),
        n_invalid=invalid,
        space=space,
        classes=aligned.shape[1],
        load_ms=loaded.load_ms,
        memory_peak_bytes=peak_memory() if loaded.session.local else None,
        threads=params.threads,
        device=loaded.session.device,
        used=loaded.session.used,
    )
    finding = None
    if invalid:
        message = f"{invalid} of {len(rows)} outputs hold NaN or Inf"
        finding = JobError(stage="run", type="InvalidOutput", message=message)
    return Produced(
        artifacts={"outputs": context.put(path)},
        data=data,
        outcome=Outcome.INVALID_OUTPUT if invalid else Outcome.OK,
        error=finding,
    )
