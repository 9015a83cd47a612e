"""A recurrent layer over word vectors, for sentences: LSTM (Hochreiter and Schmidhuber 1997), GRU (Cho et al. 2014)."""

from typing import Literal

from deltann.networks.layers import Dense, Embedding, Recurrent
from deltann.networks.network import Network, TokenInput


def _over_words(cell: Literal["lstm", "gru"]) -> Network:
    return Network(
        name=cell,
        input=TokenInput(length=40, vocabulary=5000),
        layers=(Embedding(width=64), Recurrent(cell=cell, units=64), Dense(units=2)),
    )


LSTM = _over_words("lstm")
GRU = _over_words("gru")
