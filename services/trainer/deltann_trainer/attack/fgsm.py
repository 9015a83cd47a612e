"""Fast gradient sign method, by foolbox, on models of Keras and PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np

from deltann.errors import JobFailure
from deltann.kinds.attack import WITH_GRADIENTS, Fgsm
from deltann.outcome import Outcome
from deltann_trainer.attack.attacking import Array, Attacked, Clock
from deltann_trainer.attack.subject import Range, Subject


class Gradient:
    """x + ε · sign(∇ₓ cross-entropy), clipped to the bounds (Goodfellow, Shlens and Szegedy 2015, equation 1)."""

    def __init__(self, wanted: Fgsm, subject: Subject) -> None:
        if subject.info.framework not in WITH_GRADIENTS:
            raise JobFailure(
                Outcome.RUN_FAILED,
                "attack",
                f"a model of {subject.info.framework} gives no gradients: attack it by boundary, which asks for labels",
            )
        self.batch = 50 if subject.many else 1
        self._epsilon = wanted.epsilon
        self._keras = subject.info.framework == "keras"
        self._model = _keras_model(subject) if self._keras else _torch_model(subject)

    def attack(self, x: Array, y: Array, seeds: list[list[int]], clock: Clock) -> Attacked:
        """Attack a batch; nothing in it is random."""
        clock.look()
        from foolbox.attacks import LinfFastGradientAttack

        given, labels = self._tensors(x.astype(np.float32), y)
        _, moved, _ = LinfFastGradientAttack()(self._model, given, labels, epsilons=self._epsilon)
        return Attacked(moved.numpy(), np.ones(len(x), np.bool_))

    def _tensors(self, x: Array, y: Array) -> tuple[Any, Any]:
        if self._keras:
            import tensorflow as tf

            return tf.constant(x), tf.constant(y)
        import torch

        return torch.from_numpy(x), torch.from_numpy(y)


def _span(values: Range) -> tuple[Array, Array]:
    return np.asarray(values.low, np.float32), np.asarray(values.high - values.low, np.float32)


def _keras_model(subject: Subject) -> Any:
    """A foolbox model that takes shares and gives logits."""
    import foolbox
    import tensorflow as tf
    from deltann_engines.keras_engine import load_model

    assert subject.values is not None
    model, info = load_model(subject.path, subject.info), subject.info
    low, span = _span(subject.values)

    def logits(shares: Any) -> Any:
        x = low + shares * span
        x = tf.transpose(x, (0, 3, 1, 2)) if info.input.layout == "NCHW" else x
        out = model(tf.cast(x, info.input.dtype), training=False)
        out = tf.reshape(out, (len(shares), -1))[:, info.class_offset :]
        return tf.math.log(out) if info.output_kind == "probabilities" else out

    return foolbox.TensorFlowModel(logits, bounds=(0, 1), device="/CPU:0")


def _torch_model(subject: Subject) -> Any:
    """The same; the softmax of a logarithm gives probabilities back, up to their sum."""
    import foolbox
    import torch
    from deltann_engines.torch_engine import load_program

    assert subject.values is not None
    info = subject.info
    script = info.format == "torchscript"
    model = torch.jit.load(subject.path, map_location="cpu") if script else load_program(subject.path).module()
    low, span = map(torch.from_numpy, _span(subject.values))

    class Logits(torch.nn.Module):
        """Holds the model beside its modules: an exported program refuses to be switched to evaluation."""

        def forward(self, shares: Any) -> Any:
            x = low + shares * span
            x = x.permute(0, 3, 1, 2) if info.input.layout == "NCHW" else x
            out = model(x.contiguous()).reshape(len(shares), -1)[:, info.class_offset :]
            return out.log() if info.output_kind == "probabilities" else out

    return foolbox.PyTorchModel(Logits().eval(), bounds=(0, 1), device="cpu")
