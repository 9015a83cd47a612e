"""The manifests as kustomize renders them: by Kubernetes' and KEDA's schemas, and by what must hold of a fleet."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from deltann.service import find_service

ROOT = Path(__file__).resolve().parents[3]
KUBERNETES = ROOT / "deploy/kubernetes"
KUBECTL = Path(sys.executable).with_name("kubectl")
WORKLOADS = ("Deployment", "DaemonSet", "StatefulSet")
Manifest = dict[str, Any]


@pytest.fixture(scope="module", params=["dev", "lab"])
def manifests(request: pytest.FixtureRequest) -> list[Manifest]:
    command = [KUBECTL, "kustomize", KUBERNETES / "overlays" / request.param]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


def of_kind(manifests: list[Manifest], *kinds: str) -> dict[str, Manifest]:
    return {one["metadata"]["name"]: one for one in manifests if one["kind"] in kinds}


def pods(manifests: list[Manifest], role: str = "") -> dict[str, Manifest]:
    """The pods that are ours, by the name of what runs them."""
    return {
        name: one["spec"]["template"]["spec"]
        for name, one in of_kind(manifests, *WORKLOADS).items()
        if role in one["spec"]["template"]["metadata"]["labels"].get("deltann.dev/role", "")
    }


def test_every_manifest_is_what_kubernetes_takes(manifests: list[Manifest]) -> None:
    for manifest in manifests:
        if manifest["kind"] != "ScaledObject":
            kubernetes_validate.validate(manifest, "1.34", strict=True)


def test_every_scaled_object_is_what_keda_takes(manifests: list[Manifest]) -> None:
    schema = json.loads((KUBERNETES / "schemas/scaledobject-spec.json").read_text())
    scaled = of_kind(manifests, "ScaledObject")
    assert scaled
    for one in scaled.values():
        jsonschema.validate(one["spec"], schema)


def test_keda_schema_refuses_a_misspelt_field() -> None:
    schema = json.loads((KUBERNETES / "schemas/scaledobject-spec.json").read_text())
    with pytest.raises(jsonschema.ValidationError, match="maxReplicas"):
        jsonschema.validate({"scaleTargetRef": {"name": "x"}, "triggers": [], "maxReplicas": 3}, schema)


def test_deployments_of_workers_scale_on_the_depth_and_the_running_jobs_of_their_queue(
    manifests: list[Manifest],
) -> None:
    scaled = of_kind(manifests, "ScaledObject")
    workers = {name for name in of_kind(manifests, "Deployment") if name in pods(manifests, "worker")}
    assert {one["spec"]["scaleTargetRef"]["name"] for one in scaled.values()} == workers
    for name, one in scaled.items():
        queue = re.sub("^executor-", "exec.", name)
        query = one["spec"]["triggers"][0]["metadata"]["query"]
        assert re.findall(r'deltann_queue_(\w+)\{queue="(.+?)"\}', query) == [("depth", queue), ("running", queue)]


def test_a_worker_has_time_to_end_its_longest_job(manifests: list[Manifest]) -> None:
    services = ("converter", "compiler", "executor", "analyzer")
    longest = max(kind.seconds for name in services for kind in find_service(name).kinds)
    for name, pod in pods(manifests, "worker").items():
        assert pod["terminationGracePeriodSeconds"] > longest, name


def test_pods_are_unprivileged_limited_and_have_a_disruption_budget(manifests: list[Manifest]) -> None:
    budgets = [
        one["spec"]["selector"]["matchLabels"]["app"] for one in of_kind(manifests, "PodDisruptionBudget").values()
    ]
    found = pods(manifests)
    assert sorted(budgets) == sorted(found)
    for name, pod in found.items():
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["automountServiceAccountToken"] is False, name
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True, name
            assert context["allowPrivilegeEscalation"] is False, name
            assert context["capabilities"] == {"drop": ["ALL"]}, name
            assert {"cpu", "memory"} <= set(container["resources"]["limits"]), name
            assert container["livenessProbe"], name
            assert re.search(r":[^:]*\w", container["image"].rpartition("/")[2]), container["image"]
            assert not container["image"].endswith(":latest"), name


def test_timings_have_whole_cores_that_nothing_else_gets(manifests: list[Manifest]) -> None:
    for name, pod in pods(manifests, "worker").items():
        if name.startswith("executor-"):
            resources = pod["containers"][0]["resources"]
            assert resources["requests"] == resources["limits"], name
            assert str(resources["limits"]["cpu"]).isdigit(), name


def test_everything_is_closed_that_is_not_opened(manifests: list[Manifest]) -> None:
    policies = of_kind(manifests, "NetworkPolicy")
    assert policies["nothing"]["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    for store in ("redis", "seaweedfs"):
        (rule,) = policies[store]["spec"]["ingress"]
        (peer,) = rule["from"]
        assert peer["podSelector"]["matchExpressions"][0]["values"] == ["worker", "gateway"]
    assert [
        name for name, one in policies.items() for rule in one["spec"].get("ingress", ()) if "from" not in rule
    ] == ["gateway"]


def test_the_compiler_alone_has_the_private_key_and_executors_its_public_half(manifests: list[Manifest]) -> None:
    for name, pod in pods(manifests).items():
        (container,) = pod["containers"]
        mounted = {volume["name"]: volume for volume in pod["volumes"]} if pod.get("volumes") else {}
        paths = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
        environment = {one["name"]: one.get("value") for one in container.get("env", ())}
        assert ("signing" in mounted) is (name == "compiler"), name
        assert ("DELTANN_SIGNING_KEY" in environment) is (name == "compiler"), name
        verifies = name == "compiler" or name.startswith("executor-")
        assert ("DELTANN_MODULE_KEYS" in environment) is verifies, name
        if verifies:
            assert mounted["modules"]["configMap"]["name"] == "deltann-module-keys"
            assert environment["DELTANN_MODULE_KEYS"] == f"{paths['modules']}/signing.pub"
            assert environment["DELTANN_REDIS"]


def test_no_secret_is_in_the_manifests(manifests: list[Manifest]) -> None:
    assert of_kind(manifests, "Secret") == {}


def test_every_pool_of_an_executor_is_defined(manifests: list[Manifest]) -> None:
    defined = yaml.safe_load((ROOT / "deploy/pools/pools.yml").read_text())["pools"]
    for name, pod in pods(manifests, "worker").items():
        command = pod["containers"][0]["command"]
        if "--pool" in command:
            assert command[command.index("--pool") + 1] in defined
            assert name == f"executor-{command[command.index('--pool') + 1]}"
