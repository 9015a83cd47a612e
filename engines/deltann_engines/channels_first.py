"""Keras convolutions over NCHW tensors, computed in NHWC between two transposes.

TensorFlow has no NCHW convolutions on a CPU but those of oneDNN, and without AVX-512 these are a reference loop,
hundreds of times slower. And Keras 3.15 adds the bias of such a layer along the wrong axis where its output is as wide
as it has channels: ``keras.ops.add`` takes [1, C, 1, 1] for a bias of the last axis if that has C elements too.
"""

from __future__ import annotations

from typing import Any

_LAST, _FIRST = (0, 2, 3, 1), (0, 3, 1, 2)


def compute_channels_last(model: Any) -> Any:
    """The same ``keras.Model``, with its channels-first convolutions replaced; all other layers are shared with it."""
    import keras

    kinds = {
        keras.layers.Conv2D: _moved(keras.layers.Conv2D, keras.ops.conv),
        keras.layers.DepthwiseConv2D: _moved(keras.layers.DepthwiseConv2D, keras.ops.depthwise_conv),
    }
    made: list[tuple[Any, Any]] = []

    def clone(layer: Any) -> Any:
        kind = kinds.get(type(layer))
        if kind is None or layer.data_format != "channels_first":
            return layer
        replaced = kind.from_config(layer.get_config())
        made.append((layer, replaced))
        return replaced

    cloned = keras.models.clone_model(model, clone_function=clone)
    for layer, replaced in made:
        replaced.set_weights(layer.get_weights())
    return cloned if made else model


def _moved(kind: Any, convolve: Any) -> Any:
    """A channels-first convolution layer of a kind that computes with its channels last."""
    import keras

    class ChannelsFirst(kind):  # type: ignore[misc]
        """Takes and gives [N, C, H, W]."""

        def call(self, inputs: Any) -> Any:
            """The convolution, its bias and its activation."""
            found = convolve(
                keras.ops.transpose(inputs, _LAST),
                self.kernel,
                strides=self.strides,
                padding=self.padding,
                dilation_rate=self.dilation_rate,
                data_format="channels_last",
            )
            if self.use_bias:
                found = keras.ops.add(found, self.bias)
            moved = keras.ops.transpose(found, _FIRST)
            return moved if self.activation is None else self.activation(moved)

    return ChannelsFirst
