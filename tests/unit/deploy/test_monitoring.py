"""Alerts, dashboards and the handbook name what there is: metrics, alerts and labels; promtool reads them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from deltann_gateway.metrics import FleetCollector, metrics_of
from prometheus_client.core import Metric

from deltann.fleet import FleetView

REPOSITORY = Path(__file__).parents[3]
PROMETHEUS = REPOSITORY / "deploy/prometheus"
ALERTS = PROMETHEUS / "rules/alerts.yml"
ALERT_TESTS = Path(__file__).parent / "alerts.test.yml"
DASHBOARDS = sorted((REPOSITORY / "deploy/grafana/dashboards").glob("*.json"))
PROVISIONING = REPOSITORY / "deploy/grafana/provisioning"
HANDBOOK = REPOSITORY / "docs/operations.md"
SUFFIXES = {"counter": "_total", "info": "_info"}

promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed (Debian: prometheus)")


def exported() -> dict[str, Metric]:
    """Every metric that the gateway exports, by the name that Prometheus gives it."""
    nowhere = FleetCollector("redis://127.0.0.1:1/0", {}).collect()
    families = [*nowhere, *metrics_of(FleetView(time=0.0))]
    return {family.name + SUFFIXES.get(family.type, ""): family for family in families}


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def expressions(dashboard: dict[str, Any]) -> Iterator[str]:
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield target["expr"]
    for variable in dashboard["templating"]["list"]:
        yield variable["query"]["query"]


def metrics_in(text: str) -> set[str]:
    return set(re.findall(r"\bdeltann_\w+", text))


def promtool_runs(*arguments: object) -> None:
    ended = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_an_alert_is_of_metrics_there_are_says_what_to_do_and_is_tried(rule: dict[str, Any]) -> None:
    assert metrics_in(rule["expr"]) <= exported().keys()
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert rule["for"]
    assert rule["annotations"].keys() == {"summary", "description"}
    tried = [case for test in yaml.safe_load(ALERT_TESTS.read_text())["tests"] for case in test["alert_rule_test"]]
    ends = [bool(case.get("exp_alerts")) for case in tried if case["alertname"] == rule["alert"]]
    assert {True, False} == set(ends), "an alert is tried when it has to come and when it must not"
    assert f"`{rule['alert']}`" in HANDBOOK.read_text()


@promtool
def test_prometheus_reads_its_configuration_and_the_alerts_come_when_they_have_to() -> None:
    promtool_runs("check", "config", PROMETHEUS / "prometheus.yml")
    promtool_runs("test", "rules", ALERT_TESTS)


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboard_is_of_metrics_there_are_and_its_panels_lie_side_by_side(path: Path) -> None:
    dashboard = json.loads(path.read_text())
    used = set().union(*map(metrics_in, expressions(dashboard)))
    assert used
    assert used <= exported().keys()
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert max(x for x, _ in cells) < 24
        assert not taken & cells, f"{panel['title']} lies on another panel"
        taken |= cells
        assert panel["datasource"]["uid"] == "prometheus"


@promtool
@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_the_expressions_of_a_dashboard_are_promql(path: Path, tmp_path: Path) -> None:
    texts = [text for text in expressions(json.loads(path.read_text())) if not text.startswith("label_values(")]
    plain = [text.replace("$__rate_interval", "5m").replace("$sweep", "s-1") for text in texts]
    rules = [{"record": f"panel_{number}", "expr": text} for number, text in enumerate(plain)]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    promtool_runs("check", "rules", file)


def test_grafana_finds_source_and_dashboards_where_they_are_mounted() -> None:
    assert {path.stem for path in DASHBOARDS} == {"fleet", "sweep"}
    assert len({json.loads(path.read_text())["uid"] for path in DASHBOARDS}) == 2
    (source,) = yaml.safe_load((PROVISIONING / "datasources/prometheus.yml").read_text())["datasources"]
    assert source["uid"] == "prometheus"
    (provider,) = yaml.safe_load((PROVISIONING / "dashboards/deltann.yml").read_text())["providers"]
    compose = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())["services"]["grafana"]
    mounts = dict(volume.split(":")[:2] for volume in compose["volumes"])
    assert mounts["./deploy/grafana/dashboards"] == provider["options"]["path"]


def test_the_handbook_lists_exactly_the_metrics_that_are_exported() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in HANDBOOK.read_text().splitlines()
        if line.startswith("| `deltann_")
    ]
    listed = {name.strip("`"): (kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels, _ in rows}
    known = exported()
    assert listed.keys() == known.keys()
    assert len(rows) == len(listed)
    assert {name: kind for name, (kind, _) in listed.items()} == {
        name: "gauge" if family.type == "info" else family.type for name, family in known.items()
    }
    labels = {name: tuple(family._labelnames) for name, family in known.items()}  # type: ignore[attr-defined]
    assert {name: found for name, (_, found) in listed.items() if known[name].type != "info"} == {
        name: found for name, found in labels.items() if known[name].type != "info"
    }
