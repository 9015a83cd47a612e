"""Training jobs as a worker's child runs them, in this process, with a store in a temporary folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import torch.export.pt2_archive  # noqa: F401  (has to come before TensorFlow)


@pytest.fixture
def trainer(tmp_path):
    from jobs import Trainer

    return Trainer(tmp_path)
