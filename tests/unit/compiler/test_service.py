from __future__ import annotations

import pytest
from deltann_compiler import service
from deltann_compiler.service import COMPILE

from deltann.kinds.compile import CompileParams
from deltann.worker.keys import toolchain_of


def test_a_module_for_the_host_is_of_its_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    host, named = CompileParams(target="host", level=0), CompileParams(target="x86-64-v3", level=0)
    here, anywhere = toolchain_of(COMPILE, host), toolchain_of(COMPILE, named)
    monkeypatch.setattr(service, "cpu_fingerprint", lambda: "another")
    assert toolchain_of(COMPILE, host) != here
    assert toolchain_of(COMPILE, named) == anywhere
    assert "processor" not in anywhere
