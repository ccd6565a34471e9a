"""`plimsoll run --on kube://…` on a real kubelet: API server, scheduler, containerd, real pods.

Who runs it has a run's rights in a namespace under the standard "restricted", and no others.
Opt-in, for it takes an image and some 20 CPU-minutes of builds: `make kubelet pod-image`, as root.
Else it is skipped, and says what is missing.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cluster.control_plane import CannotServe
from tests.integration.cluster.node.node import IMAGE, NAMESPACE, Node, real_node
from tests.integration.command import ROOT, Workplace, finished_trials, journal, until

pytestmark = pytest.mark.full
PLACE = f"kube://test/{NAMESPACE}"
_LONGEST_S = 600
# One that fits a node of two CPUs, next to the container that keeps the record.
_TUNING = {
    "name": "node",
    "platform": "vm",
    "cpus": {"reserved": "0", "isolated": "1"},
    "pods": [{"name": "plimsoll", "role": "generator", "cpus": 1, "memory": "3Gi"}],
}
_CPUS = {"lab": {"kind": "testpmd-memif", "cpu": 1}, "generator": {"cpus": [0]}}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    yield from _node(tmp_path_factory.mktemp("node"))


def _node(folder: Path, *, static: bool = False) -> Iterator[Node]:
    try:
        with real_node(folder, static=static) as found:
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
        """What `plimsoll cluster list` says."""
        found = self.run("cluster", "list", PLACE)
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
    assert "go on with --resume" in errors
    run = laptop.place.only_run()
    before = finished_trials(run)
    assert before
    laptop.assert_whole(laptop.run("run", "--resume", run))
    assert "run-resumed" in {event["kind"] for event in journal(run)}
    # What was recorded is not measured again.
    assert finished_trials(run)[: len(before)] == before


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
