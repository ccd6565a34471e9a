"""`plimsoll tune audit --kube` against a real kube-apiserver with the kinds of OpenShift.

The server, its storage, validation, admission and RBAC are real, and so are the schemas. There
are no operators, no scheduler and no kubelet: what they would write is written by hand
(cluster/written), and every verdict below is worked out by hand from it. Skipped where there
is no server; `make kube-apiserver` builds one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cluster.audit_command import assert_turned, audited, refused
from tests.integration.cluster.change import Change, changed
from tests.integration.cluster.control_plane import (
    CannotServe,
    ServerParts,
    control_plane,
    find_parts,
)
from tests.integration.cluster.owner import Refused
from tests.integration.cluster.presets import (
    DETERMINISTIC,
    PRESETS,
    TELCO,
    VDU,
    as_intended,
    rendered,
    verdicts_when_all_acted,
)
from tests.integration.cluster.served import ServedCluster
from tests.integration.command import ROOT, until
from tests.unit.tune.render.example_intents import INTENTS, manifests

OF_PODS = range(113, 118)
MONITORING_FOR_LONGER = """\
alertmanagerMain: {enabled: false}
grafana: {enabled: false}
prometheusK8s: {retention: 15d}
"""
# What is said once the rendered objects are there, and no one has acted on them. Pods cannot
# be: the server refuses a runtime class that the operator has not made.
RENDERED_ONLY = {
    DETERMINISTIC: {
        101: "warn",  # no condition Available
        102: "fail",  # the pool has no machines
        103: "fail",  # no 50-performance-reghwol
        104: "fail",
        105: "fail",
        106: "not-applicable",  # no service, no sysctl
        107: "unknown",  # no node
        108: "ok",
        109: "unknown",
        110: "fail",  # two SriovNetworks, of which no one made attachments
        111: "not-applicable",
        112: "unknown",
        **dict.fromkeys(OF_PODS, "not-applicable"),
        118: "ok",  # no one has to act on rights
    },
    VDU: {
        101: "warn",
        102: "fail",  # no pool "master"
        103: "fail",
        104: "fail",
        105: "fail",
        106: "ok",
        107: "unknown",
        108: "not-applicable",  # no nic
        109: "not-applicable",
        110: "not-applicable",
        111: "ok",
        112: "unknown",
        **dict.fromkeys(OF_PODS, "not-applicable"),
        118: "ok",  # no one has to act on rights
    },
    TELCO: {
        101: "warn",
        102: "fail",
        103: "fail",
        104: "fail",
        105: "fail",
        106: "not-applicable",
        107: "unknown",
        108: "ok",
        109: "unknown",
        110: "fail",
        111: "not-applicable",
        112: "unknown",
        **dict.fromkeys(OF_PODS, "not-applicable"),
        118: "ok",  # no one has to act on rights
    },
}


pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def parts() -> ServerParts:
    try:
        return find_parts()
    except CannotServe as why:
        pytest.skip(str(why))


@pytest.fixture
def empty(kube_cluster: ServedCluster) -> Iterator[ServedCluster]:
    yield kube_cluster
    kube_cluster.owner.clear()


@pytest.mark.parametrize("intent", INTENTS)
def test_the_server_takes_all_that_is_rendered(empty: ServedCluster, intent: str) -> None:
    """With strict field validation, the CRDs' rules, and admission of pods."""
    name = INTENTS[intent].name
    runtime_class = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": f"performance-{name}"},
        "handler": "high-performance",
    }
    every = list(manifests(intent).values())
    empty.owner.apply_all([runtime_class, *every])
    for each in every:
        assert empty.owner.find(each)["metadata"]["uid"]


@pytest.mark.parametrize("intent", PRESETS)
def test_rendered_and_not_acted_on(empty: ServedCluster, intent: str) -> None:
    *objects, pod = rendered(intent)
    empty.owner.apply_all(objects)
    with pytest.raises(Refused, match=r"RuntimeClass .* not found"):
        empty.owner.apply_all([pod])
    report = audited(empty.config, intent)
    assert report.verdicts == RENDERED_ONLY[intent]
    assert (report.status, report.kernel) == (1, None)


@pytest.mark.parametrize("intent", PRESETS)
def test_as_intended_in_all(empty: ServedCluster, intent: str) -> None:
    empty.owner.apply_all(as_intended(intent))
    report = audited(empty.config, intent)
    assert report.verdicts == verdicts_when_all_acted(intent), report.texts
    assert report.status == 0


def test_services_partitioning_and_the_tuned_patch_turn_too(empty: ServedCluster) -> None:
    """Those that the other preset has none of."""
    there = as_intended(VDU)
    empty.owner.apply_all(there)
    tuned = next(each for each in there if each["kind"] == "Tuned")
    (profile,) = tuned["spec"]["profile"]
    running = profile["data"].replace(
        "service.chronyd=stop,disable", "service.chronyd=start,enable"
    )
    changes = [
        Change(
            "the clock is disciplined after all",
            *("Tuned", "performance-patch", {"spec": {"profile": [profile | {"data": running}]}}),
            {106: ("fail", "service.chronyd")},
        ),
        Change(
            "the console is back",
            *("Console", "cluster", {"spec": {"managementState": "Managed"}}),
            {111: ("fail", "spec.managementState is Managed, not Removed")},
        ),
        Change(
            "samples are kept for longer",
            *("ConfigMap", "cluster-monitoring-config"),
            {"data": {"config.yaml": MONITORING_FOR_LONGER}},
            {111: ("fail", "retention")},
        ),
        Change(
            "the node boots without the real-time kernel",
            *("Node", "vdu-0"),
            {"status": {"nodeInfo": {"kernelVersion": "4.18.0-305.49.1.el8_4.x86_64"}}},
            {112: ("fail", "runs the kernel 4.18.0-305.49.1.el8_4.x86_64")},
            part="status",
        ),
    ]  # fmt: skip
    for change in changes:
        with changed(empty.owner, change, there):
            report = audited(empty.config, VDU)
        assert_turned(report, VDU, change.turned)


def test_a_cluster_without_the_operators(parts: ServerParts, tmp_path: Path) -> None:
    """Kubernetes as it comes: it has no such kinds, which is known and no riddle."""
    with control_plane(parts, tmp_path) as plane:
        (tmp_path / "config").write_text(plane.owners_kubeconfig())
        report = audited(tmp_path / "config", VDU)
    absent = "fail"
    assert report.verdicts == {
        **dict.fromkeys((101, 102, 103, 104, 105, 106), absent),
        107: "unknown",  # no node
        **dict.fromkeys((108, 109, 110), "not-applicable"),  # no nic, no network
        111: absent,
        112: "unknown",
        **dict.fromkeys(OF_PODS, "not-applicable"),
        118: absent,
    }
    assert "the cluster has no kind performanceprofiles.performance" in report.texts[101]
    assert "the cluster has no kind tuneds.tuned.openshift.io" in report.texts[106]
    assert "the cluster has no kind securitycontextconstraints.security" in report.texts[118]


def test_a_server_that_is_gone(parts: ServerParts, tmp_path: Path) -> None:
    with control_plane(parts, tmp_path) as plane:
        (tmp_path / "config").write_text(plane.owners_kubeconfig())
    status, said = refused(tmp_path / "config", DETERMINISTIC)
    assert status == 3
    assert f"{plane.url}: the API server cannot be read: Connection refused" in said
    assert not any(process.runs() for process in plane.processes)


def test_nothing_outlives_a_killed_test(parts: ServerParts, tmp_path: Path) -> None:
    code = (
        "import pathlib, sys, time\n"
        "from tests.integration.cluster.control_plane import control_plane, find_parts\n"
        "with control_plane(find_parts(), pathlib.Path(sys.argv[1])) as plane:\n"
        "    print(*(each.pid for each in plane.processes), flush=True)\n"
        "    time.sleep(600)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as test:
        assert test.stdout is not None
        pids = [int(word) for word in test.stdout.readline().split()]
        assert len(pids) == 2
        os.kill(test.pid, signal.SIGKILL)
    until(lambda: not any(_is_alive(pid) for pid in pids), "the server and its store to be gone")


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
