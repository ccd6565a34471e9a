"""What a run makes in a cluster, against a real API server: admitted, found, and removed.

Validation is strict, and Pod Security admission holds the namespace to the standard "restricted".
There is no kubelet: no pod starts. Skipped where there is no server; `make kube-apiserver`
builds one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.cluster.pods.cluster_client import ClusterClient, ClusterPlace
from plimsoll.cluster.pods.manifests import (
    ObservedNode,
    dut_pods,
    observer_name,
    observer_pod,
    observers_access,
    owner_manifest,
    run_pod,
)
from plimsoll.cluster.pods.pod_plan import PodPlan, plan_pods
from plimsoll.cluster.pods.removal import FoundRun, found_runs, remove_labelled
from plimsoll.host.kubernetes.cluster_errors import ClusterRefused
from plimsoll.methods.matrix.jobs import job_manifest
from tests.integration.cluster.control_plane import (
    CannotServe,
    ControlPlane,
    control_plane,
    find_parts,
)
from tests.integration.cluster.owner import Owner
from tests.integration.command import QUICK, Workplace, until
from tests.unit.cluster.pods.test_manifests import INTENT

pytestmark = pytest.mark.full
NAME, RUN = "plimsoll-0123456789", "20260101T000000-quick"
RESTRICTED, PRIVILEGED = "bench", "cards"


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    try:
        parts = find_parts()
    except CannotServe as why:
        pytest.skip(str(why))
    with control_plane(parts, tmp_path_factory.mktemp("plane")) as found:
        yield found


@pytest.fixture(scope="module")
def config(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("owner") / "kubeconfig"
    path.write_text(plane.owners_kubeconfig())
    owner = Owner(path)
    for name, level in ((RESTRICTED, "restricted"), (PRIVILEGED, "privileged")):
        labels = {"pod-security.kubernetes.io/enforce": level}
        metadata = {"name": name, "labels": labels}
        owner.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    runtime_class = {"name": "performance-lab"}
    kind = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass"}
    owner.apply({**kind, "metadata": runtime_class, "handler": "high-performance"})
    return path


def client_of(config: Path, namespace: str) -> ClusterClient:
    return ClusterClient.connect(ClusterPlace(None, namespace), str(config))


def planned(folder: Path, more: str = "", *, hugepages: bool = False) -> PodPlan:
    return plan_pods(experiment(folder, more), "registry.lab/plimsoll", hugepages=hugepages)


def experiment(folder: Path, more: str = "") -> Experiment:
    path = folder / "quick.yaml"
    path.write_text(yaml.safe_dump(QUICK) + more)
    return load_experiment(path)


@pytest.fixture
def bench(config: Path) -> Iterator[ClusterClient]:
    client = client_of(config, RESTRICTED)
    yield client
    list(remove_labelled(client, ""))


def test_a_runs_pod_is_admitted_under_the_standard_restricted(
    bench: ClusterClient, tmp_path: Path
) -> None:
    owner = bench.create(owner_manifest(NAME, RUN, "name: quick\n"))
    made = bench.create(run_pod(NAME, RUN, planned(tmp_path), owner))
    # The server's own judgement, from the containers' resources.
    assert made["status"]["qosClass"] == "Guaranteed"
    assert made["metadata"]["ownerReferences"][0]["uid"] == owner["metadata"]["uid"]


def test_a_pod_with_hugepages_is_guaranteed_too(bench: ClusterClient, tmp_path: Path) -> None:
    owner = bench.create(owner_manifest(NAME, RUN, "name: quick\n"))
    pod = run_pod(NAME, RUN, planned(tmp_path, hugepages=True), owner)
    assert bench.create(pod, dry_run=True)["status"]["qosClass"] == "Guaranteed"
    assert bench.read("Pod", NAME) is None


@pytest.mark.parametrize("queue", [None, "benches"])
def test_a_matrixs_job_is_admitted(bench: ClusterClient, tmp_path: Path, queue: str | None) -> None:
    owner = bench.create(owner_manifest(NAME, RUN, "name: quick\n"))
    job = job_manifest(
        NAME,
        RUN,
        planned(tmp_path),
        owner,
        count=6,
        store=("s3://bench/x",),
        secret="bench-key",  # noqa: S106 - the name of one
        queue=queue,
    )
    made = bench.create(job)
    assert (made["spec"]["completions"], made["spec"]["parallelism"]) == (6, 6)
    # Kueue is who lets a job begin that is made for a queue.
    assert made["spec"]["suspend"] is (queue is not None)


def test_an_intents_pods_with_cards_are_admitted_where_they_may_be(
    config: Path, bench: ClusterClient, tmp_path: Path
) -> None:
    cards = client_of(config, PRIVILEGED)
    plan = planned(tmp_path, INTENT)
    owner = cards.create(owner_manifest(NAME, RUN, "name: quick\n"))
    made = cards.create(run_pod(NAME, RUN, plan, owner))
    assert made["status"]["qosClass"] == "Guaranteed"
    for dut in dut_pods(NAME, RUN, plan, owner):
        cards.create(dut)
    list(remove_labelled(cards, ""))
    # And nowhere else: IPC_LOCK and root are more than "restricted" has.
    with pytest.raises(ClusterRefused, match="violates PodSecurity") as refused:
        bench.create(run_pod(NAME, RUN, plan, owner))
    assert refused.value.status == 403


def test_observers_are_admitted_and_their_run_has_rights_to_no_other_pod(
    config: Path, bench: ClusterClient, tmp_path: Path
) -> None:
    cards = client_of(config, PRIVILEGED)
    plan = planned(tmp_path, INTENT)
    owner = cards.create(owner_manifest(NAME, RUN, "name: quick\n"))
    for manifest in observers_access(NAME, RUN, plan, owner):
        cards.create(manifest)
    # The server's own judgement of what the run's service account may do.
    run = run_pod(NAME, RUN, plan, owner, [ObservedNode("node", "kube:///cards/observer", ())])
    account = f"system:serviceaccount:{PRIVILEGED}:{run['spec']['serviceAccountName']}"
    observer = observer_name(NAME, plan.duts[0])
    asked = Owner(config).may
    assert asked(account, "create", "pods/exec", PRIVILEGED, observer)
    assert not asked(account, "create", "pods/exec", PRIVILEGED, NAME)
    assert not asked(account, "get", "pods", PRIVILEGED, observer)
    assert not asked(account, "get", "secrets", PRIVILEGED, "any")
    list(remove_labelled(cards, ""))
    # An observer takes no more than "restricted" lets it.
    owner = bench.create(owner_manifest(NAME, RUN, "name: quick\n"))
    made = bench.create(observer_pod(NAME, RUN, plan, plan.duts[0], owner))
    assert made["status"]["qosClass"] == "Guaranteed"


def test_what_runs_left_is_listed_and_removed(bench: ClusterClient, tmp_path: Path) -> None:
    for name in ("plimsoll-aaaaaaaaaa", "plimsoll-bbbbbbbbbb"):
        owner = bench.create(owner_manifest(name, f"run-of-{name}", "name: quick\n"))
        bench.create(run_pod(name, f"run-of-{name}", planned(tmp_path), owner))
    first, second = found_runs(bench)
    assert (first.name, first.run_id) == ("plimsoll-aaaaaaaaaa", "run-of-plimsoll-aaaaaaaaaa")
    assert first.objects == (
        "Pod plimsoll-aaaaaaaaaa (Pending)",
        "ConfigMap plimsoll-aaaaaaaaaa",
    )
    removed = list(remove_labelled(bench, f"plimsoll/run={first.name}"))
    assert removed == ["Pod plimsoll-aaaaaaaaaa", "ConfigMap plimsoll-aaaaaaaaaa"]
    assert found_runs(bench) == (second,)


def test_a_laptop_that_is_killed_leaves_what_clean_removes(
    config: Path, bench: ClusterClient, place: Workplace
) -> None:
    """No kubelet starts the pod, so the run waits for it as long as it lives."""
    environment = {**place.environment, "KUBECONFIG": str(config), "PLIMSOLL_IMAGE": "lab/plimsoll"}
    argv = place.argv("run", place.experiment(), "--on", f"kube:///{RESTRICTED}")
    process = subprocess.Popen(
        [*argv, "--runs", place.runs], env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        until(lambda: any(_waits(each) for each in found_runs(bench)), "its pod")
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    (left,) = found_runs(bench)
    (run,) = place.runs.iterdir()
    assert left.run_id == run.name
    cleaned = subprocess.run(
        [sys.executable, "-m", "plimsoll.cli", "runs", "clean", "--on", f"kube:///{RESTRICTED}"],
        env={**environment, "PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert cleaned.returncode == 0, cleaned.stderr
    assert cleaned.stdout.splitlines() == [
        f"removed Pod {left.name}",
        f"removed ConfigMap {left.name}",
    ]
    assert found_runs(bench) == ()


def _waits(run: FoundRun) -> bool:
    return any("(Pending)" in each for each in run.objects)
