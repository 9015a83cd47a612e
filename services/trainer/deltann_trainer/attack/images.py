"""Models and images as foolbox takes them, in either framework."""

from __future__ import annotations

from typing import Any

import numpy as np

from deltann_trainer.attack.base import Inputs, Labels, Victim, refused


class Framed:
    """A victim in foolbox, and arrays to and from its tensors."""

    def __init__(self, victim: Victim, attack: str) -> None:
        if victim.model is None or victim.framework == "other":
            raise refused(
                f"The attack {attack} was asked of a model that is no Keras and no PyTorch model, so neither gradients "
                "nor tensors can be had of it. Attack the Keras or PyTorch model that it was converted from."
            )
        self.framework = victim.framework
        if self.framework == "pytorch":
            from foolbox.models import PyTorchModel

            self.model: Any = PyTorchModel(victim.model, bounds=victim.bounds, device="cpu")
        else:
            from foolbox.models import TensorFlowModel

            self.model = TensorFlowModel(victim.model, bounds=victim.bounds, device="cpu:0")

    def tensors(self, inputs: Inputs, labels: Labels) -> tuple[Any, Any]:
        """Inputs and classes in the framework's own tensors."""
        values = np.ascontiguousarray(inputs, np.float32)
        if self.framework == "pytorch":
            import torch

            return torch.from_numpy(values), torch.from_numpy(np.asarray(labels, np.int64))
        import tensorflow as tf  # type: ignore[import-untyped]

        return tf.constant(values), tf.constant(np.asarray(labels, np.int64))

    def seed(self, seed: int) -> None:
        """Seed everything that foolbox draws from: NumPy's and the framework's global generators."""
        np.random.seed(seed)  # foolbox draws from it
        if self.framework == "pytorch":
            import torch

            torch.manual_seed(seed)
        else:
            import tensorflow as tf

            tf.random.set_seed(seed)


def check_images(inputs: Inputs, victim: Victim, attack: str) -> None:
    """Refuse tokens, and inputs outside the bounds.

    Raises:
        JobFailure: ``run_failed``.
    """
    if not np.issubdtype(inputs.dtype, np.floating):
        raise refused(f"The attack {attack} changes images, and was asked of sentences. Ask for `genetic` there.")
    low, high = victim.bounds
    if inputs.size and (inputs.min() < low - 1e-5 or inputs.max() > high + 1e-5):
        raise refused(
            f"The inputs of the attack {attack} reach from {inputs.min():g} to {inputs.max():g}, beyond the declared "
            f"range {low:g} to {high:g}. Declare the range that the model's inputs have after preprocessing."
        )
