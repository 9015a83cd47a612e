from importlib.metadata import PackageNotFoundError

import pytest
from deltann_executor.service import SERVICE

from deltann.engines import ENGINES, EngineOptions
from deltann.installed import installed
from deltann.kinds.execute import ExecuteParams, TimeParams
from deltann.preprocess.steps import Recipe
from deltann.service import find_service

NONE = Recipe(name="none")
WEB = "onnxruntime-web"


def params(engine, threads=1):
    return ExecuteParams(engine=engine, recipe=NONE, start=0, stop=1, threads=threads)


def test_the_service_is_found_by_its_name():
    assert find_service("executor") is SERVICE


def test_frameworks_and_thread_counts_do_not_meet_in_one_process():
    affinity = SERVICE.kind("execute").affinity
    warm = [engine for engine in ENGINES if engine != WEB]
    values = [affinity(params(engine, threads)) for engine in warm for threads in (1, 2)]
    assert len(set(values)) == 2 * len(warm)
    assert "" not in values
    assert affinity(params("torch")) == SERVICE.kind("time").affinity(TimeParams(engine="torch", recipe=NONE))


def test_a_browser_does_not_outlive_its_job():
    assert SERVICE.kind("execute").affinity(params(WEB)) == ""


def test_libraries_do_not_meet_in_one_process_either():
    affinity = SERVICE.kind("execute").affinity
    asked = params("tensorflow").model_copy(update={"options": EngineOptions(library="eigen")})
    assert (affinity(params("tensorflow")), affinity(asked)) == ("tensorflow/1", "tensorflow/1/eigen")


@pytest.mark.parametrize("engine", ENGINES)
def test_the_toolchain_of_every_engine_is_installed(engine):
    names = SERVICE.kind("execute").toolchain(params(engine))
    assert len(set(names)) == len(names) >= 3
    try:
        assert all(installed(name) for name in names)
    except PackageNotFoundError as missing:
        if engine != WEB:
            raise
        pytest.skip(f"{missing.name} is not installed: make test-web")


def test_only_times_depend_on_the_device_and_want_the_host_to_themselves():
    execute, time = SERVICE.kind("execute"), SERVICE.kind("time")
    assert (execute.device_bound, execute.exclusive) == (False, False)
    assert (time.device_bound, time.exclusive) == (True, True)
