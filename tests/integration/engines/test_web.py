"""onnxruntime-web in a real headless Chromium: answers as ONNX Runtime's outside, and crashes that are findings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import psutil
import pytest
from deltann_engines.base import load, prepare
from deltann_engines.onnxruntime_web_engine import WebSession
from deltann_engines.web.browser import BrowserError
from onnx import TensorProto, helper, numpy_helper, save

from deltann.installed import find_chromium, modules
from deltann.model import ModelInfo, TensorSpec

pytestmark = pytest.mark.skipif(
    find_chromium() is None or not (modules() / "onnxruntime-web").is_dir(),
    reason="needs Chromium and the npm module onnxruntime-web: run tools/web.sh (make test-web)",
)
