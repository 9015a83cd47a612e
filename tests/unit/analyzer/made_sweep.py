"""A small sweep written into a store as workers would leave it, with labels and times that can be counted by hand.

Ten classes, twenty photos, truth = row mod 10. The native answers the truth; what each variant changes is said where it
is added. Times are constant per variant, so that medians are known.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from deltann.artifact import ArtifactRef
from deltann.engines import DEFAULT, EngineOptions
from deltann.faults.edits import SetInitializer, Tensor
from deltann.faults.layers import LayerFacts, Layers, Picture
from deltann.faults.suspect import Suspect
from deltann.job import Done, Job, JobError, JobResult, Plan
from deltann.kinds.compile import CompileData
from deltann.kinds.convert import ConvertData, ConvertParams, Parity, Step
from deltann.kinds.execute import ExecuteData, ExecuteParams, TimeData, TimeParams
from deltann.kinds.repair import Disagreement, LocalizeData
from deltann.kinds.resolve import DataManifest, DataShard, LeftOut
from deltann.layers.statistics import statistics
from deltann.model import ENGINE_OF, ModelInfo, TensorSpec
from deltann.outcome import Outcome
from deltann.plan.context import ConversionPlan, LocalizationPlan, NativeModel, SweepContext, VariantPlan
from deltann.preprocess.steps import Recipe
from deltann.spec.models import Study
from deltann.store.base import ArtifactStore
from deltann.store.layout import plan_key, write_done, write_result

SWEEP = "s-1"
N = 20
CLASSES = 10
SHARDS = ((0, 12), (12, N))
TRUTH = tuple(row % CLASSES for row in range(N))
HOSTILE = "<script>alert(1)</script>"
"""Part of a failure's message: the page has to escape it."""

FORMATS = {"pytorch": "pt2", "keras": "keras", "tflite": "tflite", "onnx": "onnx"}


def info(framework: str) -> ModelInfo:
    return ModelInfo.model_validate(
        {
            "format": FORMATS[framework],
            "input": TensorSpec(name="x", shape=(1, 3, 8, 8), dtype="float32", layout="NCHW"),
            "output": TensorSpec(name="y", shape=(1, CLASSES), dtype="float32"),
            "output_kind": "logits",
            "classes": CLASSES,
            "size_bytes": 1000,
            "weights_fingerprint": "w" if framework == "pytorch" else f"w-{framework}",
            "graph_fingerprint": "g",
        }
    )


def logits(labels: Sequence[int], scale: float = 1.0) -> np.ndarray:
    """[N, 10]: the given class highest, the others falling with their distance from it."""
    away = (np.arange(CLASSES)[None, :] - np.array(labels)[:, None]) % CLASSES
    return ((10.0 - away) * scale).astype(np.float32)


class MadeSweep:
    """Adds jobs with their results, then writes plan and records."""

    def __init__(self, store: ArtifactStore) -> None:
        self.store = store
        self.jobs: list[Job] = []
        self.done: list[tuple[Done, JobResult | None]] = []
        self.variants: list[VariantPlan] = []
        self.conversions: list[ConversionPlan] = []
        self.localizations: list[LocalizationPlan] = []
        self.clock = 1000.0

    def job(
        self,
        kind: str,
        params: dict[str, Any],
        *,
        needs: dict[str, int] | None = None,
        outcome: Outcome = Outcome.OK,
        data: Any = None,
        artifacts: dict[str, ArtifactRef] | None = None,
        error: JobError | None = None,
        because: int | None = None,
        log: str = "",
        seconds: float = 1.0,
    ) -> int:
        index = len(self.jobs)
        self.jobs.append(
            Job(
                index=index, kind=kind, params=params, queue=kind, job_id=f"j{index}", needs=needs or {},
                label=f"{kind} {index}",
            )
        )  # fmt: skip
        if outcome is Outcome.SKIPPED:
            self.done.append((Done(outcome=outcome, because=because), None))
            return index
        result = JobResult(
            kind=kind,
            result_key=f"r{index}",
            outcome=outcome,
            artifacts=artifacts or {},
            data={} if data is None else data.model_dump(mode="json"),
            error=error,
            log=self.store.put_bytes(log.encode(), "log.txt") if log else None,
            toolchain={"tool-of-" + kind: "1.0"},
            work_seconds=seconds,
        )
        record = Done(outcome=outcome, result_key=result.result_key, started=self.clock, finished=self.clock + seconds)
        self.clock += seconds
        self.done.append((record, result))
        return index

    def convert(
        self,
        source: str,
        target: str,
        *,
        need: int | None = None,
        max_rel: float = 1e-6,
        agreement: float = 1.0,
        fails: str = "",
    ) -> int:
        params = ConvertParams.model_validate({"source": source, "target": target}).model_dump(mode="json")
        needs = {} if need is None else {"model": need}
        if need is not None and not self.done[need][0].outcome.usable:
            return self.job("convert", params, needs=needs, outcome=Outcome.SKIPPED, because=need)
        if fails:
            error = JobError(stage="convert", type="ValueError", message=fails)
            log = f"Traceback: {fails}"
            return self.job("convert", params, needs=needs, outcome=Outcome.CONVERT_FAILED, error=error, log=log)
        step = Step.model_validate(
            {"tool": f"{source}2{target}", "version": "1.2", "route": "onnx", "source": source, "target": target,
             "opset": 17, "seconds": 1.5, "size_before": 1000, "size_after": 1100, "warnings": ["an old operator"]}
        )  # fmt: skip
        parity = Parity(n=8, max_abs=max_rel * 10, max_rel=max_rel, top1_agreement=agreement)
        return self.job("convert", params, needs=needs, data=ConvertData(info=info(target), step=step, parity=parity))

    def compile(self, unscheduled: Sequence[str] = ()) -> int:
        """A module of 8 kernels."""
        data = CompileData(
            info=info("pytorch"), target={"kind": "llvm"}, passes=["LegalizeOps", "CPUSchedule"], size_bytes=900,
            cpu_seconds=1.0, kernels=8, unscheduled=list(unscheduled),
        )  # fmt: skip
        return self.job("compile", {}, data=data)

    def execute(self, engine: str, labels: Sequence[int], *, invalid: Sequence[int] = (), need: int | None = None,
                scale: float = 1.0, used: EngineOptions = DEFAULT) -> tuple[int, ...]:  # fmt: skip
        """Two shards, so that laying together is tested too."""
        outputs = logits(labels, scale)
        outputs[list(invalid)] = np.nan
        indices = []
        for start, stop in SHARDS:
            part = outputs[start:stop]
            valid = np.isfinite(part).all(axis=1)
            order = np.argsort(-part, axis=1, kind="stable")[:, :5]
            arrays = {
                "labels": np.where(valid[:, None], order, -1).astype(np.int32),
                "scores": np.take_along_axis(part, order, axis=1),
                "valid": valid,
                "outputs": part,
            }
            params = ExecuteParams.model_validate(
                {"engine": engine, "recipe": Recipe(name="plain"), "start": start, "stop": stop}
            )
            data = ExecuteData(
                n=stop - start, n_invalid=int((~valid).sum()), space="logits", classes=CLASSES, load_ms=12.5,
                memory_peak_bytes=5_000_000 + start, threads=1, device="a CPU", used=used,
            )  # fmt: skip
            indices.append(
                self.job(
                    "execute",
                    params.model_dump(mode="json"),
                    needs={} if need is None else {"model": need},
                    outcome=Outcome.OK if valid.all() else Outcome.INVALID_OUTPUT,
                    data=data,
                    artifacts={"outputs": self._npz(arrays, "outputs.npz")},
                )
            )
        return tuple(indices)

    def time(self, engine: str, ms: float) -> int:
        """5 inputs × 8 repeats around a median: ms + (−1.75 … 1.75) % in steps, the same for every input."""
        spread = 1 + (np.arange(8) - 3.5) / 200
        ns = np.tile((ms * 1e6 * spread).round().astype(np.int64), (5, 1))
        params = TimeParams.model_validate(
            {"engine": engine, "recipe": Recipe(name="plain"), "inputs": 5, "repeats": 8}
        )
        data = TimeData(n=40, load_ms=11.0, memory_peak_bytes=6_000_000, threads=1, affinity=[0], device="a CPU")
        artifact = self._npz({"ns": ns, "first_ns": np.int64(ms * 3e6)}, "times.npz")
        return self.job("time", params.model_dump(mode="json"), data=data, artifacts={"times": artifact})

    def lost(self, kind: str, because: int) -> int:
        return self.job(kind, _params_of(kind), needs={"model": because}, outcome=Outcome.SKIPPED, because=because)

    def variant(self, id: str, framework: str, labels: Sequence[int] | None = None, ms: float | None = None,
                **more: Any) -> VariantPlan:  # fmt: skip
        """A variant of the pytorch native, unless said otherwise; ``lost_by`` names the job that lost it."""
        engine = more.pop("engine", ENGINE_OF[framework])  # type: ignore[index]
        used = more.pop("used", DEFAULT)
        lost_by, invalid, scale = more.pop("lost_by", None), more.pop("invalid", ()), more.pop("scale", 1.0)
        if lost_by is not None:
            runs, timed = (self.lost("execute", lost_by),), self.lost("time", lost_by)
        else:
            assert labels is not None
            runs = self.execute(engine, labels, invalid=invalid, scale=scale, used=used)
            timed = None if ms is None else self.time(engine, ms)
        fields = {"model": "net", "instance": "pytorch", "source": "pytorch", "preprocessing": "plain", "pool": "cpu"}
        plan = VariantPlan.model_validate(
            fields
            | {"id": id, "framework": framework, "engine": engine, "execute_jobs": runs, "time_job": timed}
            | more
        )
        self.variants.append(plan)
        return plan

    def conversion(self, id: str, chain: Sequence[str], jobs: Sequence[int]) -> None:
        self.conversions.append(
            ConversionPlan.model_validate(
                {"id": id, "model": "net", "native": "net/pytorch", "chain": tuple(chain), "source": chain[0],
                 "target": chain[-1], "jobs": tuple(jobs)}
            )
        )  # fmt: skip

    def localized(self, step: int, wrong: str = "") -> None:
        """What was found in a conversion step: nothing, or one wrong node among three layers."""
        if not wrong:
            data = LocalizeData(agreement=None, inputs=(), suspects=0)
            job = self.job("localize", {}, needs={"target": step}, data=data)
        else:
            edit = SetInitializer(node="b", slot=1, values=Tensor.of(np.ones((2, 2), np.float32)))
            suspect = Suspect(
                node=wrong, op_type="Conv", output="b", source="right_b", own_error=2.0, stage="parameters",
                kind="weights: scaled", evidence=(f"Its weights differ {HOSTILE}.",), edits=(edit,),
            )  # fmt: skip
            seen = statistics(np.array([0.0, 1.0, 2.0, 3.0]))
            rows = (("first", "a", 1e-7, 1e-7), (wrong, "b", 2.0, 2.0), ("last", "c", 1e-7, float("inf")))
            layers = Layers(
                inputs=(3, 0),
                layers=tuple(
                    LayerFacts(
                        node=node, op_type="Conv", output=output, source=f"right_{output}", own_error=own, error=error,
                        p=0.01 if output == "b" else 0.9, right=seen, found=seen,
                    )
                    for node, output, own, error in rows
                ),
                unmatched=("right_d",),
                pictures=(made_picture(wrong),),
            )  # fmt: skip
            agreement = Disagreement(n=16, differing=(0, 3), error=0.25)
            data = LocalizeData(agreement=agreement, inputs=(3,), suspects=1, followed="keras2onnx")
            artifacts = {
                "suspects": self.store.put_bytes(f"[{suspect.model_dump_json()}]".encode(), "suspects.json"),
                "layers": self.store.put_bytes(layers.model_dump_json().encode(), "layers.json"),
            }
            job = self.job("localize", {}, needs={"target": step}, data=data, artifacts=artifacts)
        self.localizations.append(LocalizationPlan(step=step, job=job))

    def write(self, study: Study, truth: Sequence[int | None] = TRUTH) -> SweepContext:
        context = SweepContext(
            sweep=SWEEP,
            study=study,
            manifest=DataManifest(
                kind="images",
                ids=tuple(f"photo_{row:02d}.jpg" for row in range(N)),
                labels=tuple(truth),
                shards=tuple(
                    DataShard(blob=self._photos(start, stop), start=start, stop=stop) for start, stop in SHARDS
                ),
                left_out=(LeftOut(id="broken.jpg", why="is not an image"),),
            ),
            natives=(
                NativeModel(
                    id="net/pytorch", model="net", instance="pytorch", info=info("pytorch"),
                    note="random weights, seed 1",
                ),
                NativeModel(id="net/keras", model="net", instance="keras", info=info("keras")),
            ),
            conversions=tuple(self.conversions),
            variants=tuple(self.variants),
            localizations=tuple(self.localizations),
        )  # fmt: skip
        plan = Plan(jobs=tuple(self.jobs), context=context.model_dump(mode="json"))
        self.store.put(plan_key(SWEEP), plan.model_dump_json().encode())
        for index, (done, result) in enumerate(self.done):
            if result is not None:
                write_result(self.store, result)
            write_done(self.store, SWEEP, index, done)
        return context

    def _npz(self, arrays: dict[str, Any], name: str) -> ArtifactRef:
        out = io.BytesIO()
        np.savez(out, **arrays)
        return self.store.put_bytes(out.getvalue(), name)

    def _photos(self, start: int, stop: int) -> ArtifactRef:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for row in range(start, stop):
                ramp = np.linspace(0, 255, 96).astype(np.uint8)
                pixels = np.stack(
                    [np.tile(ramp, (64, 1)), np.full((64, 96), row * 12), np.tile(ramp[::-1], (64, 1))], -1
                )
                photo = io.BytesIO()
                Image.fromarray(pixels.astype(np.uint8)).save(photo, "JPEG")
                archive.writestr(f"{row - start:06d}", photo.getvalue())
        return self.store.put_bytes(out.getvalue(), "photos.zip")


def _params_of(kind: str) -> dict[str, Any]:
    if kind == "execute":
        params = ExecuteParams(engine="tvm", recipe=Recipe(name="plain"), start=0, stop=N)
        return params.model_dump(mode="json")
    if kind == "time":
        return TimeParams(engine="tvm", recipe=Recipe(name="plain")).model_dump(mode="json")
    return {}


def made_picture(node: str) -> Picture:
    """Of two tensors of four values, with bins for each."""
    return Picture(
        node=node, what="activation", edges=(0.0, 1.0, 2.0), right=(3, 1), found=(1, 3),
        difference_edges=(-1.0, 0.0, 1.0), difference=(2, 2), right_map=((0.0, 2.0), (0.0, 0.0)),
        found_map=((2.0, 2.0), (0.0, 2.0)), difference_map=((2.0, 0.0), (0.0, 2.0)),
    )  # fmt: skip


def study(**more: Any) -> Study:
    return Study.model_validate(
        {
            "schema": "deltann.study/1",
            "name": "made-up",
            "models": [{"name": "net", "natives": [{"source": "net.pt2"}], "preprocessing": ["plain", "raw"]}],
            "data": {"source": "photos"},
            "compare": {"axes": "all"},
            "gates": {"max_disagreement": 0.2, "max_slowdown": 30.0},
        }
        | more
    )


def changed(*rows: int) -> list[int]:
    """The truth, with the next class in the named rows."""
    return [(label + 1) % CLASSES if row in rows else label for row, label in enumerate(TRUTH)]


def made_sweep(store: ArtifactStore) -> SweepContext:
    """The sweep that most tests read."""
    made = MadeSweep(store)
    truth = list(TRUTH)
    # Natives: pytorch is right; keras, trained apart, differs in rows 0 to 3; raw input changes 5 of 20 labels.
    made.variant("torch", "pytorch", truth, 10.0)
    made.variant("torch-raw", "pytorch", changed(0, 1, 2, 3, 4), 10.0, preprocessing="raw")
    made.variant("keras", "keras", changed(0, 1, 2, 3), 20.0, instance="keras", source="keras")
    # Compiled from pytorch: level 2 is 40 % slower than level 0 and has two kernels in plain loops, level 4 is twice as
    # fast.
    imported = made.job("import", {})
    for level, ms in ((0, 10.0), (2, 14.0), (4, 5.0)):
        compiled = made.compile(unscheduled=("dense", "softmax") if level == 2 else ())
        made.variant(
            f"tvm-{level}", "pytorch", truth, ms, engine="tvm", opt_level=level, target="host", schedule="standard",
            import_job=imported, compile_job=compiled,
        )  # fmt: skip
    # pytorch → onnx → keras: the second step changes the model in silence; 10 of 20 labels.
    to_onnx = made.convert("pytorch", "onnx")
    to_keras = made.convert("onnx", "keras", need=to_onnx, max_rel=0.3, agreement=0.625)
    made.conversion("c-keras", ("pytorch", "onnx", "keras"), (to_onnx, to_keras))
    made.variant("as-keras", "keras", changed(*range(10)), 22.0, conversion="c-keras", parent="torch",
                 chain=("onnx", "keras"), convert_jobs=(to_onnx, to_keras))  # fmt: skip
    made.localized(to_onnx)
    made.localized(to_keras, "Conv_1")
    # pytorch → onnx: as its source, but NaN for row 7.
    made.conversion("c-onnx", ("pytorch", "onnx"), (to_onnx,))
    made.variant("as-onnx", "onnx", truth, 8.0, conversion="c-onnx", parent="torch", chain=("onnx",),
                 convert_jobs=(to_onnx,), invalid=(7,), scale=1.1)  # fmt: skip
    # pytorch → onnx → tflite: the converter fails, and loses the variant.
    to_tflite = made.convert("onnx", "tflite", need=to_onnx, fails=f"Unsupported operator {HOSTILE}")
    made.conversion("c-tflite", ("pytorch", "onnx", "tflite"), (to_onnx, to_tflite))
    made.variant("as-tflite", "tflite", conversion="c-tflite", parent="torch", chain=("onnx", "tflite"),
                 convert_jobs=(to_onnx, to_tflite), lost_by=to_tflite)  # fmt: skip
    # The compiler fails on the converted ONNX at level 4, where the converter did well.
    import_onnx = made.job("import", {}, needs={"model": to_onnx})
    error = JobError(stage="compile", type="TVMError", message="The schedule does not fit.")
    broken = made.job("compile", {}, outcome=Outcome.COMPILE_FAILED, error=error, log="tvm: no such schedule")
    made.variant("onnx-tvm-4", "onnx", engine="tvm", opt_level=4, target="host", schedule="standard",
                 conversion="c-onnx", parent="tvm-4", chain=("onnx",), convert_jobs=(to_onnx,),
                 import_job=import_onnx, compile_job=broken, lost_by=broken)  # fmt: skip
    return made.write(study())
