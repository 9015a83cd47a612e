"""Single passes, added and left out."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from deltann.kinds.compile import CompileParams
from deltann.passes import PASSES
from deltann.spec.models import Compile


def test_parameters_without_single_passes_are_written_as_before_they_could_be_named():
    """Jobs are known by what is written: stored results stay what they were."""
    assert CompileParams(level=2).model_dump(mode="json") == {
        "compiler": "tvm", "info": None, "target": "host", "level": 2, "schedule": "standard", "precision": "fp32",
    }  # fmt: skip
    named = CompileParams(level=2, disable=["FuseOps"])
    assert named.model_dump(mode="json")["disable"] == ["FuseOps"]
    assert "enable" not in named.model_dump(mode="json")
    assert CompileParams.model_validate_json(named.model_dump_json()) == named


def test_the_changes_are_told_in_a_few_words():
    assert Compile(enable=["LLVMFastMath"], disable=["FuseOps", "FoldConstant"]).changes == (
        "+LLVMFastMath -FuseOps -FoldConstant"
    )
    assert Compile().changes == ""


@pytest.mark.parametrize("kind", [Compile, lambda **asked: CompileParams(level=1, **asked)])
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"disable": ["ConvertLayout"]}, "ConvertLayout"),
        ({"enable": ["FastMath"]}, "FastMath"),
        ({"enable": ["FuseOps", "FuseOps"]}, "repeats"),
        ({"enable": ["FuseOps"], "disable": ["FuseOps"]}, "both enabled and disabled"),
    ],
)
def test_what_there_is_not_or_contradicts_itself_is_refused(kind, asked, words):
    with pytest.raises(ValidationError, match=words):
        kind(**asked)


def test_every_pass_is_told_in_the_docs() -> None:
    told = (Path(__file__).parents[2] / "docs" / "levels.md").read_text()
    assert [name for name in PASSES if f"`{name}`" not in told] == []
