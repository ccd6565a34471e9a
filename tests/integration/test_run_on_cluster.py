"""`plimsoll run --on kube://…` on a real kubelet: API server, scheduler, containerd, real pods.

Who runs it has a run's rights in a namespace under the standard "restricted", and no others.
Opt-in, for it takes an image and some 20 CPU-minutes of builds: `make kubelet pod-image`, as root.
Else it is skipped, and says what is missing.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.cluster.pods import run_in_cluster
from plimsoll.cluster.pods.cluster_client import ClusterClient, ClusterPlace
from plimsoll.cluster.pods.manifests import dut_pods
from plimsoll.cluster.pods.pod_plan import plan_pods
from plimsoll.cluster.pods.run_in_cluster import ClusterRun
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.tune.render.files.rendered_file import Manifest
from tests.integration.cluster.control_plane import CannotServe
from tests.integration.cluster.node.node import IMAGE, NAMESPACE, Node, real_node
from tests.integration.cluster.owner import Owner
from tests.integration.command import ROOT, Workplace, finished_trials, journal, until

pytestmark = pytest.mark.full
PLACE = f"kube://test/{NAMESPACE}"
_LONGEST_S = 600
# One that fits a node of two CPUs, next to the container that keeps the record.
_TUNING: dict[str, Any] = {
    "name": "node",
    "platform": "vm",
    "cpus": {"reserved": "0", "isolated": "1"},
    "pods": [{"name": "plimsoll", "role": "generator", "cpus": 1, "memory": "3Gi"}],
}
_DUT = {
    "name": "testpmd",
    "role": "dut",
    "cpus": 1,
    "memory": "64Mi",
    "image": IMAGE,
    "command": ["sleep", "infinity"],
}
_RBAC = "rbac.authorization.k8s.io/v1"
_CPUS = {"lab": {"kind": "testpmd-memif", "cpu": 1}, "generator": {"cpus": [0]}}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    yield from _node(tmp_path_factory.mktemp("node"), nodes=2)


def _node(folder: Path, *, nodes: int = 1, static: bool = False) -> Iterator[Node]:
    try:
        with real_node(folder, nodes=nodes, static=static) as found:
            yield found
    except CannotServe as why:
        pytest.skip(str(why))


class Laptop:
    """Where runs are started, which may be killed."""

    def __init__(self, node: Node, place: Workplace) -> None:
        self._node = node
        self.place = place
        own = {"KUBECONFIG": str(node.tester_config), "PLIMSOLL_IMAGE": IMAGE}
        self._environment = {**place.environment, **own}

    def start(self, *words: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self._node.enter, *self.place.argv(*words)],
            cwd=ROOT,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        process = self.start(*words)
        output, errors = process.communicate(timeout=_LONGEST_S)
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    def begin(self) -> subprocess.Popen[str]:
        """A run that has got as far as a trial, whose record is here."""
        process = self.start("run", self.experiment(), "--on", PLACE, "--runs", self.place.runs)

        def seen() -> bool:
            assert process.poll() is None, process.communicate()
            return any(event["kind"] == "trial" for event in self.place.journal_so_far())

        until(seen, "a trial", _LONGEST_S)
        return process

    def experiment(self) -> Path:
        return self.place.experiment(**_CPUS, tuning=_TUNING)

    def assert_whole(self, ended: subprocess.CompletedProcess[str]) -> None:
        """It passed, its record is whole, and nothing of it is left in the cluster."""
        assert ended.returncode == 0, ended.stderr[-4000:]
        run = self.place.only_run()
        checked = self.place.run("runs", "check", run)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        assert (run / "report.html").is_file()
        self.assert_nothing_is_left()

    def assert_nothing_is_left(self) -> None:
        """The kubelet ends in its own time what was deleted."""
        until(lambda: not self._node.left(), "its pod and config map to be gone")
        assert self.listed() == ""

    def listed(self) -> str:
        """What `plimsoll runs --on` says."""
        found = self.run("runs", "--on", PLACE)
        assert found.returncode == 0, found.stderr
        return found.stdout


@pytest.fixture
def laptop(node: Node, place: Workplace) -> Laptop:
    return Laptop(node, place)


def test_a_run_goes_into_a_pod_and_its_record_comes_here(laptop: Laptop) -> None:
    runs = laptop.place.runs
    ended = laptop.run("run", laptop.experiment(), "--on", PLACE, "--runs", runs)
    laptop.assert_whole(ended)
    # It was measured there, not here.
    (environment,) = laptop.place.runs.glob("*/environment.json")
    assert '"plimsoll-' in environment.read_text()


def test_a_killed_laptop_comes_back_to_its_run(laptop: Laptop) -> None:
    process = laptop.begin()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    run = laptop.place.only_run()
    before = finished_trials(run)
    assert "(Running)" in laptop.listed()
    resumed = laptop.run("run", "--resume", run)
    laptop.assert_whole(resumed)
    assert "the run is there still" in resumed.stderr
    # It was followed again, and never interrupted.
    assert "run-resumed" not in {event["kind"] for event in journal(run)}
    assert finished_trials(run)[: len(before)] == before


def test_a_pod_that_is_deleted_is_replaced(laptop: Laptop, node: Node) -> None:
    process = laptop.begin()
    node.as_owner(lambda owner: owner.delete_all("v1", "Pod", NAMESPACE))
    _, errors = process.communicate(timeout=_LONGEST_S)
    assert process.returncode == 3, errors[-4000:]
    assert "with --resume" in errors
    run = laptop.place.only_run()
    before = finished_trials(run)
    assert before
    laptop.assert_whole(laptop.run("run", "--resume", run))
    assert "run-resumed" in {event["kind"] for event in journal(run)}
    # What was recorded is not measured again.
    assert finished_trials(run)[: len(before)] == before


def test_the_node_of_a_dut_is_observed_from_the_runs_pod(
    laptop: Laptop, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the run's own service account, through the API server and the other node's kubelet.

    The DUT's pod, which does nothing, gets a user that the namespace admits.
    """
    (runner,) = _TUNING["pods"]
    pods = [_on(runner, "node-1"), _on(_DUT, "node-2")]
    path = laptop.place.experiment(**_CPUS, tuning={**_TUNING, "pods": pods})
    experiment = load_experiment(path)
    run = RunDirectory.create(laptop.place.runs, "quick", experiment.normalised())
    monkeypatch.setattr(run_in_cluster, "dut_pods", _admitted(dut_pods))
    said: list[str] = []

    def execute() -> int:
        client = ClusterClient.connect(ClusterPlace.parse(PLACE), str(node.tester_config))
        plan = plan_pods(experiment, IMAGE, hugepages=False)
        return ClusterRun(client, run, experiment, said.append).execute(plan)

    assert node.within(execute) == 0, "\n".join(said)
    trials = [each for each in finished_trials(run.path) if each["phase"] != "calibration"]
    assert trials
    for trial in trials:
        own, observed = trial["hosts"]
        assert own["hostname"].startswith("plimsoll-")
        assert observed["hostname"] == "node-2"
        assert observed["readings"]
        assert observed["ended"] is None
    asked = laptop.place.run(
        *("metrics", "get", "--run", run.path, "--source", "mpstat", "--type", "Busy-CPU"),
        *("--breakout", "hostname=node-2"),
    )
    assert asked.returncode == 0, asked.stderr
    laptop.assert_nothing_is_left()
    until(lambda: not node.as_owner(_rights_left), "its rights to be gone")


def _rights_left(owner: Owner) -> list[str]:
    kinds = (("v1", "ServiceAccount"), (_RBAC, "Role"), (_RBAC, "RoleBinding"))
    found = [name for version, kind in kinds for name in owner.names(version, kind, NAMESPACE)]
    return [name for name in found if name.startswith("plimsoll-")]


def _on(pod: dict[str, Any], node: str) -> dict[str, Any]:
    return {**pod, "node_selector": {"kubernetes.io/hostname": node}}


def _admitted(
    make: Callable[..., Iterator[dict[str, Any]]],
) -> Callable[..., Iterator[dict[str, Any]]]:
    def admitted(*arguments: Any) -> Iterator[Manifest]:
        for pod in make(*arguments):
            (container,) = pod["spec"]["containers"]
            container["securityContext"] |= {"runAsUser": 65532, "runAsNonRoot": True}
            yield pod

    return admitted


@pytest.fixture
def static_node(tmp_path: Path) -> Iterator[Node]:
    yield from _node(tmp_path / "node", static=True)


def test_a_pod_with_too_few_cpus_of_its_own_is_refused(static_node: Node, place: Workplace) -> None:
    """The kubelet's static CPU manager gives it the one CPU that it asks for."""
    laptop = Laptop(static_node, place)
    ended = laptop.run("run", laptop.experiment(), "--on", PLACE, "--runs", place.runs)
    assert ended.returncode == 3, ended.stderr[-4000:]
    assert "2 CPUs are polled, and the pod has 1" in " ".join(ended.stderr.split())
    laptop.assert_nothing_is_left()
