"""A network that learns in Keras, by its own optimisers and a step that TensorFlow compiles once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from deltann_engines import keras_engine
from numpy.typing import NDArray

from deltann.engines import DEFAULT
from deltann.kinds.train import Optimiser, Sgd
from deltann.model import Format
from deltann.networks import Network
from deltann.networks.initial import Weights
from deltann_trainer.keras.build import build
from deltann_trainer.learner import Inputs, Labels, Learner, Score, State


class KerasLearner:
    """Keras' side of :class:`deltann_trainer.learner.Learner`."""

    format: Format = "keras"

    def __init__(self, network: Network, optimiser: Optimiser) -> None:
        import tensorflow as tf

        self._built = build(network)
        self._model = self._built.model
        self._optimiser = _optimiser(optimiser)
        self._optimiser.build(self._model.trainable_variables)
        given = self._model.inputs[0]
        batch = (tf.TensorSpec(given.shape, given.dtype), tf.TensorSpec((None,), tf.int64))
        self._step = tf.function(self._one_step, input_signature=batch)
        self._forward = tf.function(lambda x: self._model(x, training=False), input_signature=batch[:1])

    def _one_step(self, x: Any, y: Any) -> Any:
        import tensorflow as tf

        with tf.GradientTape() as tape:
            logits = self._model(x, training=True)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            mean = tf.reduce_mean(losses)
        variables = self._model.trainable_variables
        self._optimiser.apply(tape.gradient(mean, variables), variables)
        right = tf.reduce_sum(tf.cast(tf.argmax(logits, axis=1) == y, tf.int32))
        return tf.reduce_sum(losses), right

    def step(self, x: Inputs, y: Labels, rate: float) -> Score:
        """One step of the optimiser."""
        self._optimiser.learning_rate.assign(rate)
        loss, right = self._step(x, y)
        return Score(float(loss), int(right))

    def score(self, x: Inputs, y: Labels) -> Score:
        """How a batch is classified."""
        import tensorflow as tf

        logits = self._forward(x)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        return Score(float(tf.reduce_sum(losses)), int((logits.numpy().argmax(axis=1) == y).sum()))

    def logits(self, x: Inputs) -> NDArray[np.float32]:
        """[n, classes]."""
        found: NDArray[np.float32] = self._forward(x).numpy()
        return found

    def weights(self) -> Weights:
        """Keras' layout is the neutral one."""
        return {name: variable.numpy() for name, variable in self._built.variables.items()}

    def load(self, weights: Weights) -> None:
        """Assign every variable."""
        for name, variable in self._built.variables.items():
            variable.assign(weights[name])

    def slots(self) -> State:
        """The optimiser's variables in order."""
        return {str(place): variable.numpy() for place, variable in enumerate(self._optimiser.variables)}

    def restore(self, slots: State) -> None:
        """Assign the optimiser's variables."""
        for place, variable in enumerate(self._optimiser.variables):
            variable.assign(slots[str(place)])

    def save(self, folder: Path) -> Path:
        """A ``.keras`` file, without optimiser."""
        path = folder / "model.keras"
        self._model.save(path)
        return path


def _optimiser(wanted: Optimiser) -> Any:
    import keras

    if isinstance(wanted, Sgd):
        return keras.optimizers.SGD(wanted.learning_rate, momentum=wanted.momentum)
    return keras.optimizers.Adam(wanted.learning_rate, beta_1=wanted.beta1, beta_2=wanted.beta2, epsilon=wanted.epsilon)


def make(network: Network, optimiser: Optimiser, threads: int) -> Learner:
    """The network in Keras on TensorFlow, whatever backend the user's own settings name."""
    keras_engine.prepare(threads, DEFAULT)
    return KerasLearner(network, optimiser)
