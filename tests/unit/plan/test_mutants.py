"""Mutants in a plan: which jobs make them, what they share, and what they are held against."""

from __future__ import annotations

from typing import Any

from made_plan import planned, study

from deltann.plan import sweep_id
from deltann.plan.context import VariantPlan

GRAPH: dict[str, Any] = {"operators": ["drop_layer"], "at": [{"occurrence": 0}, {"occurrence": 1}]}
KERNEL: dict[str, Any] = {"operators": ["float32_to_int8"]}
COMPILE = {"levels": [0, 4], "targets": ["x86-64-v2", "x86-64-v4"]}


def test_a_graph_mutant_is_made_once_and_imported_compiled_and_run_as_any_model() -> None:
    one = study(engines=["own", "tvm"], compile=COMPILE, mutations=[GRAPH])
    plan, context, counts = planned(one, "onnx")
    # Three models (the native, two mutants), each in ONNX Runtime and in 2 levels × 2 targets.
    assert counts == {"mutate": 2, "import": 3, "compile": 12, "execute": 15, "time": 5, "analyze": 1}
    mutant = next(v for v in context.variants if v.mutation == "drop_layer #1" and v.engine == "onnxruntime")
    assert mutant.mutate_job is not None
    assert plan.jobs[mutant.execute_jobs[0]].needs == {"model": mutant.mutate_job}
    assert plan.jobs[mutant.mutate_job].sources.keys() == {"model"}
    assert (mutant.operator, mutant.time_job) == ("drop_layer", None)
    assert mutant.id == "m/onnx@onnxruntime ~ drop_layer #1"


def test_a_kernel_mutant_shares_the_import_and_is_held_against_the_module_without_it() -> None:
    one = study(engines=["own", "tvm"], compile=COMPILE, mutations=[KERNEL])
    plan, context, counts = planned(one, "onnx")
    assert counts == {"import": 1, "compile": 8, "execute": 9, "time": 5, "analyze": 1}
    mutants = [v for v in context.variants if v.mutation]
    assert {(v.engine, v.mutate_job) for v in mutants} == {("tvm", None)}
    by_id = {v.id: v for v in context.variants}
    for mutant in mutants:
        original = by_id[str(mutant.original)]
        assert mutant.compile_job is not None
        job = plan.jobs[mutant.compile_job]
        assert job.needs == {"ir": original.import_job, "module": original.compile_job}
        without = {name: value for name, value in job.params.items() if name not in ("mutation", "reuse")}
        assert without == plan.jobs[original.compile_job or 0].params


def test_what_tvm_reads_itself_is_mutated_as_tvm_has_it() -> None:
    relax = {"operators": ["relax_add_to_subtract"]}
    one = study(engines=["tvm"], compile=COMPILE, mutations=[GRAPH, relax])
    plan, context, _ = planned(one, "pt2")
    by_id = {v.id: v for v in context.variants}
    ways = {v.operator: (v.chain, by_id[str(v.original)].framework) for v in context.variants if v.operator}
    assert ways.pop("relax_add_to_subtract") == ((), "pytorch")
    assert set(ways.values()) == {(("pytorch", "onnx"), "onnx")}
    (imported,) = {v.import_job for v in context.variants if v.operator == "relax_add_to_subtract"}
    assert plan.jobs[imported or 0].needs == {}


def test_every_mutant_has_an_original_that_is_alike_but_for_the_mutation() -> None:
    one = study(2, engines=["own", "tvm", "openvino"], compile=COMPILE, pools=["a", "b"], mutations=[GRAPH, KERNEL])
    _, context, _ = planned(one, "pt2", "onnx")
    by_id = {v.id: v for v in context.variants}
    like = (
        "model",
        "instance",
        "source",
        "framework",
        "chain",
        "engine",
        "target",
        "opt_level",
        "pool",
        "preprocessing",
    )
    mutants = [v for v in context.variants if v.mutation]
    # Two natives, 6 builds in 2 pools: two mutants of graphs in all, one of kernels in TVM's four.
    assert len(mutants) == 2 * 2 * (2 * 6 + 4)
    for mutant in mutants:
        original: VariantPlan = by_id[str(mutant.original)]
        assert original.mutation is None
        assert all(getattr(mutant, name) == getattr(original, name) for name in like)


def test_a_study_without_mutants_has_the_jobs_and_the_id_that_it_had() -> None:
    assert sweep_id(study()) == sweep_id(study(mutations=[]))
    assert "mutations" not in study().model_dump(mode="json")
    plan, _, _ = planned(study(engines=["tvm"]), "onnx")
    assert all("mutation" not in job.params for job in plan.jobs)


def test_singles_are_a_mutant_for_each_of_the_first_places() -> None:
    one = study(engines=["own"], mutations=[{"operators": ["drop_layer"], "singles": 3}])
    _, context, _ = planned(one, "onnx")
    assert [v.mutation for v in context.variants if v.mutation] == [f"drop_layer #{n}" for n in range(3)]
