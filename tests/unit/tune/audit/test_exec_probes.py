"""Check 45. Fields: Kubernetes, Pod v1 and Probe v1; which containers get CPUs of their own:
Control CPU Management Policies on the Node, Pod Quality of Service Classes."""

import json
from typing import Any

import pytest

from plimsoll.tune.audit.checks.exec_probes import CHECK
from plimsoll.tune.audit.finding import CheckFinding
from plimsoll.tune.cluster.checks.pods_probes import CHECK as IN_THE_CLUSTER
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

MANIFESTS = "/etc/kubernetes/manifests"
KUBELET = "/etc/kubernetes/kubelet.conf"
EXEC = {"exec": {"command": ["/alive"]}}
TCP = {"tcpSocket": {"port": 80}}
WHOLE = {"cpu": "2", "memory": "1Gi"}
POLLER = {"name": "poller", "resources": {"limits": WHOLE, "requests": WHOLE}}


def manifest(*containers: dict[str, Any], name: str = "dataplane", **spec: Any) -> str:
    pod = {"kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, **spec}}
    # Without the anchors that YAML would have for what is there twice.
    return json.dumps(pod)


def judged(*texts: str, **others: str) -> CheckFinding:
    files = {f"{MANIFESTS}/{number}.yaml": text for number, text in enumerate(texts)}
    return CHECK.judge(host(CHECK, files | {KUBELET: others.get("kubelet", "")}), intent())


def test_a_pod_with_cpus_of_its_own_and_no_exec_probe_is_ok(says: Says) -> None:
    finding = judged(manifest(POLLER | {"livenessProbe": TCP}))
    assert finding.verdict == "ok"
    assert finding.text == says("117")


@pytest.mark.parametrize("probe", ["livenessProbe", "readinessProbe", "startupProbe"])
def test_each_kind_of_exec_probe_fails(probe: str, says: Says) -> None:
    finding = judged(manifest(POLLER | {probe: EXEC}))
    assert finding.verdict == "fail"
    assert finding.text == says(f"poller.{probe}")
    assert f"{MANIFESTS}/0.yaml" in finding.steps[0].text


@pytest.mark.parametrize(
    "resources",
    [
        {},
        {"requests": WHOLE},
        {"limits": {"cpu": "2"}},
        {"limits": {"cpu": "1500m", "memory": "1Gi"}},
        {"limits": WHOLE, "requests": {"cpu": "1", "memory": "1Gi"}},
        {"limits": {"cpu": 0, "memory": "1Gi"}},
        {"limits": {"cpu": "two", "memory": "1Gi"}},
        {"limits": {"cpu": float("inf"), "memory": "1Gi"}},
        {"limits": ["2"]},
    ],
)
def test_a_container_that_shares_its_cpus_is_not_judged(resources: Any, says: Says) -> None:
    shared = {"name": "etcd", "resources": resources, "livenessProbe": EXEC}
    finding = judged(manifest(shared))
    assert finding.verdict == "not-applicable"
    assert finding.text == says("117")


@pytest.mark.parametrize("cpu", [2, "2", "2000m", 2.0])
def test_a_whole_number_may_be_written_in_many_ways(cpu: object) -> None:
    """And a request that is left out is the limit."""
    limits = {"cpu": cpu, "memory": "1Gi"}
    requested = {"name": "poller", "resources": {"limits": limits}, "livenessProbe": EXEC}
    assert judged(manifest(requested)).verdict == "fail"


def test_one_container_without_limits_makes_the_pod_burstable() -> None:
    finding = judged(manifest(POLLER | {"livenessProbe": EXEC}, {"name": "logger"}))
    assert finding.verdict == "not-applicable"


def test_next_to_a_poller_one_with_a_part_of_a_cpu_may_start_programs() -> None:
    part = {"limits": {"cpu": "500m", "memory": "1Gi"}}
    finding = judged(manifest(POLLER, {"name": "logger", "resources": part, "livenessProbe": EXEC}))
    assert finding.verdict == "ok"


def test_a_sidecar_is_judged_and_what_only_prepares_is_not(says: Says) -> None:
    prepares = POLLER | {"name": "prepares", "readinessProbe": EXEC}
    sidecar = POLLER | {"name": "sidecar", "restartPolicy": "Always", "readinessProbe": EXEC}
    finding = judged(manifest(POLLER, initContainers=[prepares, sidecar]))
    assert finding.verdict == "fail"
    assert finding.text == says("sidecar.readinessProbe")


@pytest.mark.parametrize(("name", "verdict"), [("router", "fail"), ("etcd", "not-applicable")])
def test_a_pod_that_the_intent_names_is_judged_whatever_it_asks(name: str, verdict: str) -> None:
    """Without a namespace it is in the default one, as the intent's is."""
    requested = intent(pods=[{"name": "router", "qos": "burstable", "cpus": 1}])
    text = manifest({"name": "any", "livenessProbe": EXEC}, name=name)
    view = host(CHECK, {f"{MANIFESTS}/pod.json": text})
    assert CHECK.judge(view, requested).verdict == verdict


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("kind: Service\n", ()),
        ("apiVersion: v1\nkind: PodList\nitems: []\n", ()),
        ("- 1\n", ()),
        ("a: &a [*a]\n", ()),
        ("a: &a b\n", ()),
        ("[" * 5000, ()),
        ("kind: Pod\nx: \t!!python/object:os.system {}\n", ("2",)),
        ("a" * (2 << 20), ()),
    ],
)
def test_what_is_no_manifest_is_unknown_and_named(
    text: str, facts: tuple[str, ...], says: Says
) -> None:
    finding = judged(text)
    assert finding.verdict == "unknown"
    assert f"{MANIFESTS}/0.yaml" in finding.text
    assert finding.text == says(*facts)


def test_what_is_known_to_be_wrong_is_reported_next_to_what_is_unknown(says: Says) -> None:
    finding = judged(manifest(POLLER | {"livenessProbe": EXEC}), "kind: Service")
    assert finding.verdict == "fail"
    assert finding.text == says("poller.livenessProbe", "/etc/kubernetes/manifests/1.yaml")


@pytest.mark.parametrize("metadata", ["text", ["list"], None, {"name": 7, "labels": "x"}])
def test_metadata_of_any_shape_is_no_error(metadata: object) -> None:
    text = json.dumps({"kind": "Pod", "metadata": metadata, "spec": {"containers": [POLLER]}})
    assert judged(text).verdict == "ok"


def test_hidden_files_are_none_of_the_kubelets() -> None:
    view = host(CHECK, {f"{MANIFESTS}/.swap": manifest(POLLER | {"livenessProbe": EXEC})})
    assert CHECK.judge(view, intent()).verdict == "not-applicable"


def test_without_static_pods_it_does_not_apply_and_names_the_clusters_check(says: Says) -> None:
    """The words hold next to a cluster's audit too: they ask for nothing that was just done."""
    finding = CHECK.judge(host(CHECK, {}), intent())
    assert finding.verdict == "not-applicable"
    assert finding.text == says(str(MANIFESTS), "117")
    assert finding.steps == ()


def test_the_check_that_it_refers_to_is_the_one_of_probes() -> None:
    assert IN_THE_CLUSTER.number == 117


@pytest.mark.parametrize(
    ("path", "verdict", "facts"),
    [
        (MANIFESTS, "fail", ("poller.livenessProbe",)),
        (f"{MANIFESTS}/", "fail", ("poller.livenessProbe",)),
        ("/etc/kubelet.d", "unknown", ("/etc/kubelet.d",)),
        ("", "not-applicable", ("117",)),
    ],
)
def test_the_kubelets_own_directory_counts(
    path: str, verdict: str, facts: tuple[str, ...], says: Says
) -> None:
    kubelet = f'kind: KubeletConfiguration\nstaticPodPath: "{path}"\n'
    finding = judged(manifest(POLLER | {"livenessProbe": EXEC}), kubelet=kubelet)
    assert finding.verdict == verdict
    assert finding.text == says(*facts)


def test_manifests_that_only_root_may_read_are_unknown(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, {}, forbidden=[MANIFESTS]), intent())
    assert finding.verdict == "unknown"
    assert finding.text == says(str(MANIFESTS))


def test_one_manifest_that_only_root_may_read_is_unknown() -> None:
    finding = CHECK.judge(host(CHECK, {}, forbidden=[f"{MANIFESTS}/a.yaml"]), intent())
    assert finding.verdict == "unknown"


def test_more_files_than_a_node_has_are_not_read(says: Says) -> None:
    finding = judged(*["kind: Pod"] * 101)
    assert finding.verdict == "unknown"
    assert finding.text == says("100")
