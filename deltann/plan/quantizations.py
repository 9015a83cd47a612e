"""The quantised models of a study, and the unquantised ones that they are held against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from deltann.errors import DataError, SpecError
from deltann.kinds.quantize import SCHEMES, Scheme
from deltann.kinds.resolve import DataManifest
from deltann.plan.build import PlanBuilder
from deltann.plan.nodes import Node, quantized, step
from deltann.plan.variants import VariantPlanner
from deltann.spec.quantization import Quantization


@dataclass(frozen=True)
class Quantizer:
    """Plans the quantised models of one model entry.

    Args:
        builder: of the plan.
        planner: of the entry's variants.
        wanted: what the study says.
        calibration: the entry's calibration set; None where no scheme needs one.
        opset: of ONNX that is made on the way.
    """

    builder: PlanBuilder
    planner: VariantPlanner
    wanted: Quantization
    calibration: DataManifest | None
    opset: int

    def add(self, natives: Sequence[Node], planned: Mapping[int | None, str | None]) -> None:
        """Every native by every scheme, each beside the same model unquantised.

        Args:
            natives: of the entry.
            planned: what has variants already, by the job that makes it, with the id of its conversion.

        Raises:
            SpecError: for a scheme that can have none of the natives.
        """
        known = dict(planned)
        for index, scheme in enumerate(self.wanted.schemes):
            found = list(self._of(natives, scheme))
            if not found:
                raise SpecError(
                    f"quantize.schemes.{index}: {scheme} quantises what a TFLite file is made of, and the natives of "
                    f"{self.planner.entry.name} are TFLite files. Name the model that they were made of as a native."
                )
            for native, read, like in found:
                if like.job not in known:
                    self.planner.add(like, source=native)
                    known[like.job] = None
                recipe = self.planner.reference(native)
                made = quantized(self.builder, read, like, scheme, recipe, self.calibration)
                self.planner.add_quantized(made, known[like.job])

    def _of(self, natives: Sequence[Node], scheme: Scheme) -> Iterator[tuple[Node, Node, Node]]:
        """Each native that a scheme can have, the model of it that is read, and what the result is held against."""
        facts = SCHEMES[scheme]
        for native in natives:
            if native.framework == facts.makes == "tflite":
                continue
            read = native if native.framework in facts.reads else step(self.builder, native, "onnx", opset=self.opset)
            same = read.framework == facts.makes
            yield native, read, read if same else step(self.builder, read, facts.makes, opset=self.opset)


def check_calibration(model: str, manifest: DataManifest, wanted: Quantization | None) -> DataManifest:
    """A calibration set as it was asked for.

    Raises:
        DataError: where it has fewer inputs.
    """
    asked = wanted.calibration.inputs if wanted is not None else 0
    if manifest.n < asked:
        raise DataError(
            f"quantize.calibration asks for {asked} inputs for {model}, and its data has {manifest.n} that can be "
            "used. Ask for fewer, or name larger data."
        )
    return manifest
