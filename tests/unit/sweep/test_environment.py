from importlib import metadata
from pathlib import Path

import pytest

from deltann.sweep import environment as module
from deltann.worker.code import place_of, source_files


def fresh() -> str:
    module.environment.cache_clear()
    return module.environment()


@pytest.fixture(autouse=True)
def forget() -> None:
    module.environment.cache_clear()


def test_it_is_the_same_for_the_same_installation() -> None:
    assert fresh() == fresh()


def test_another_version_of_a_distribution_is_another_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fresh()

    class Upgraded(metadata.PathDistribution):
        @property
        def version(self) -> str:
            return "99.0"

    real = list(metadata.distributions())
    one = next(found for found in real if found.metadata["Name"] == "numpy")
    replaced = [Upgraded(found._path) if found is one else found for found in real]  # type: ignore[attr-defined]
    monkeypatch.setattr(module, "distributions", lambda: replaced)
    assert fresh() != before


def test_mended_code_of_a_service_is_another_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fresh()
    real = module.digest_bytes
    mended = b'"""Kind ``convert``'

    def digest(data: bytes) -> str:
        return real(data + b"# mended" if data.startswith(mended) else data)

    assert any(path.read_bytes().startswith(mended) for path in _sources("deltann_converter"))
    monkeypatch.setattr(module, "digest_bytes", digest)
    assert fresh() != before


def test_another_look_of_the_report_is_another_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fresh()
    (sheet, *_) = [path.read_bytes() for path in _sources("deltann_analyzer") if path.suffix == ".css"]
    real = module.digest_bytes
    monkeypatch.setattr(module, "digest_bytes", lambda data: real(data + b"/**/" if data == sheet else data))
    assert fresh() != before


def _sources(package: str) -> list[Path]:
    root = place_of(package)
    assert root is not None
    return source_files(root)
