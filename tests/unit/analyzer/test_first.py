from __future__ import annotations

from collections import Counter

from deltann_analyzer.html.first import LEADING, leading, tiles, verdict
from written_report import Written

from deltann.report.models import Finding, Gate, Severity


def finding(severity: Severity, kind: str, text: str = "") -> Finding:
    return Finding(severity=severity, kind=kind, text=text)


def test_verdict_names_the_broken_gates_with_value_and_limit(written: Written) -> None:
    said = verdict(written.report)
    assert said["level"] == "fault"
    assert said["text"] == (
        "2 gates are broken (max disagreement 0.5, limit 0.2; max slowdown 40, limit 30), and 5 faults found."
    )


def test_verdict_of_a_sweep_without_fault(written: Written) -> None:
    held = [Gate(name="max_disagreement", limit=0.1, value=0.0, ok=True)]
    calm = written.report.model_copy(update={"gates": held, "findings": [finding("note", "substitution")]})
    assert verdict(calm) == {"level": "good", "text": "The gate holds. No fault was found."}
    warned = calm.model_copy(update={"findings": [finding("warning", "slower_level")]})
    assert verdict(warned) == {"level": "warning", "text": "The gate holds. No fault was found; 1 warning."}


def test_a_kind_that_comes_often_does_not_hide_the_others() -> None:
    found = [finding("warning", "slower_level", str(number)) for number in range(30)]
    found += [finding("warning", "unscheduled_kernels"), finding("note", "substitution")]
    first, further = leading(found)
    assert Counter(one.kind for one in first) == {"slower_level": 2, "unscheduled_kernels": 1, "substitution": 1}
    assert [one.text for one in further] == [str(number) for number in range(2, 30)]


def test_leading_findings_are_few_and_none_is_lost() -> None:
    found = [finding("fault", f"kind-{number}") for number in range(40)]
    first, further = leading(found)
    assert len(first) == LEADING
    assert first + further == found


def test_every_tile_leads_to_a_section_of_the_page(written: Written) -> None:
    page = (written.folder / "report.html").read_text()
    for tile in tiles(written.report):
        assert f'<section id="{tile["section"]}"' in page
        assert f'href="#{tile["section"]}"' in page
