"""A network that learns in PyTorch, by its own optimisers, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from deltann_engines import torch_engine
from deltann_engines.torch_program import save_program
from numpy.typing import NDArray
from torch.nn import functional

from deltann.engines import DEFAULT
from deltann.kinds.train import Optimiser, Sgd
from deltann.model import Format
from deltann.networks import Network
from deltann.networks.initial import Weights
from deltann_trainer.learner import Inputs, Labels, Learner, Score, State
from deltann_trainer.pytorch.build import build


class TorchLearner:
    """PyTorch's side of :class:`deltann_trainer.learner.Learner`."""

    format: Format = "pt2"

    def __init__(self, network: Network, optimiser: Optimiser) -> None:
        built = build(network)
        assert built.module is not None
        self._module, self._places, self._input = built.module, built.places, network.input
        self._trained = [one for one in self._module.parameters() if one.requires_grad]
        self._optimiser = _optimiser(optimiser, self._trained)

    def step(self, x: Inputs, y: Labels, rate: float) -> Score:
        """One step of the optimiser."""
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        self._module.train()
        self._optimiser.zero_grad(set_to_none=True)
        logits, wanted = self._module(_own(x)), torch.from_numpy(y)
        mean = functional.cross_entropy(logits, wanted)
        mean.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        return Score(float(mean.detach()) * len(y), int((logits.detach().argmax(dim=1) == wanted).sum()))

    def score(self, x: Inputs, y: Labels) -> Score:
        """How a batch is classified."""
        logits, wanted = torch.from_numpy(self.logits(x)), torch.from_numpy(y)
        loss = functional.cross_entropy(logits, wanted, reduction="sum")
        return Score(float(loss), int((logits.argmax(dim=1) == wanted).sum()))

    def logits(self, x: Inputs) -> NDArray[np.float32]:
        """[n, classes]."""
        self._module.eval()
        with torch.no_grad():
            found: NDArray[np.float32] = self._module(_own(x)).numpy()
        return found

    def weights(self) -> Weights:
        """Carried back into the neutral layout."""
        return {
            name: np.ascontiguousarray(place.back(tuple(tensor.detach().numpy().copy() for tensor in place.tensors)))
            for name, place in self._places.items()
        }

    def load(self, weights: Weights) -> None:
        """Copy into every tensor."""
        with torch.no_grad():
            for name, place in self._places.items():
                for tensor, value in zip(place.tensors, place.there(weights[name]), strict=True):
                    tensor.copy_(torch.from_numpy(np.ascontiguousarray(value)))

    def slots(self) -> State:
        """By the place of the parameter and the optimiser's own names."""
        state = self._optimiser.state_dict()["state"]
        return {
            f"{place}/{name}": torch.as_tensor(value).numpy()
            for place, named in state.items()
            for name, value in named.items()
            if value is not None
        }

    def restore(self, slots: State) -> None:
        """Lay it into the optimiser as it was."""
        state: dict[int, dict[str, Any]] = {}
        for key, value in slots.items():
            place, _, name = key.partition("/")
            state.setdefault(int(place), {})[name] = torch.from_numpy(value.copy())
        self._optimiser.load_state_dict({**self._optimiser.state_dict(), "state": state})

    def save(self, folder: Path) -> Path:
        """A ``.pt2`` program with a free batch."""
        dtype = np.int32 if self._input.kind == "tokens" else np.float32
        example = _own(np.zeros((1, *self._input.shape), dtype))
        return save_program(self._module, example, folder / "model.pt2")


def _own(x: Inputs) -> torch.Tensor:
    """Images with their channels first."""
    given = torch.from_numpy(np.ascontiguousarray(x))
    return given.permute(0, 3, 1, 2).contiguous() if given.dim() == 4 else given


def _optimiser(wanted: Optimiser, trained: list[torch.nn.Parameter]) -> torch.optim.Optimizer:
    if isinstance(wanted, Sgd):
        return torch.optim.SGD(trained, lr=wanted.learning_rate, momentum=wanted.momentum)
    return torch.optim.Adam(trained, lr=wanted.learning_rate, betas=(wanted.beta1, wanted.beta2), eps=wanted.epsilon)


def make(network: Network, optimiser: Optimiser, threads: int) -> Learner:
    """The network in PyTorch."""
    torch_engine.prepare(threads, DEFAULT)
    return TorchLearner(network, optimiser)
