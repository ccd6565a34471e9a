"""The laptop's part of a run, against a namespace in memory whose pod is a folder and a thread."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.cluster.pods import run_in_cluster
from plimsoll.cluster.pods.cluster_client import KINDS, ClusterPlace
from plimsoll.cluster.pods.pod_plan import plan_pods
from plimsoll.cluster.pods.run_in_cluster import ClusterRun, LeftRunning, name_of, place_of
from plimsoll.errors import Interrupted, MachineError
from plimsoll.host.kubernetes.cluster_errors import ClusterRefused, ClusterUnreachable
from plimsoll.host.kubernetes.exec_stream import StreamEnded
from plimsoll.record.run.run_directory import RunDirectory
from tests.worded.says import Says, passage

ROOT = Path(__file__).parents[4]
RUNNING = [{"name": "record", "state": {"running": {}}}, {"name": "run", "state": {"running": {}}}]


class PodOfAFolder:
    """What the containers of the run's pod do, on a folder instead of a volume."""

    def __init__(self, folder: Path, run_id: str, work: Callable[[Path], int | None]) -> None:
        self.folder = folder
        (folder / run_id).mkdir(parents=True)
        self._work = work
        self.deleted = threading.Event()
        threading.Thread(target=self._run, args=(run_id,), daemon=True).start()

    def _run(self, run_id: str) -> None:
        while not (self.folder / "begin").exists():
            if self.deleted.wait(0.01):
                return
        status = self._work(self.folder / run_id)
        if status is not None:
            (self.folder / "status.json").write_text(json.dumps({"exit_status": status}))


class Session:
    """An exec session, as a process on this machine. It breaks after so many lines."""

    def __init__(self, folder: Path, breaks_after: int | None) -> None:
        self._left = breaks_after
        self._process = subprocess.Popen(
            [sys.executable, "-m", "plimsoll.cluster.pods.record_server", str(folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def read_line(self, timeout_s: float) -> bytes:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise StreamEnded("the connection was closed", where="pod", remedy="")
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip(b"\n")

    def read(self, length: int, timeout_s: float) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.read(length)

    def close(self) -> None:
        self._process.communicate()


class Said:
    """An exec session of a command that has said all that it says."""

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)

    def read_line(self, timeout_s: float) -> bytes:
        return self._lines.pop(0).encode()

    def close(self) -> None:
        self._lines.clear()


class Namespace:
    """As much of a ClusterClient as a run uses."""

    def __init__(self, folder: Path, work: Callable[[Path], int | None]) -> None:
        self.place = ClusterPlace("lab", "bench")
        self.namespace = "bench"
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}
        self.made: list[str] = []
        self.pods: list[dict[str, Any]] = []
        self.breaks_after: list[int | None] = []
        self.reachable = True
        self.dut_cpus = "2-3"
        self.forbidden: str | None = None
        self.does_not_start = ""
        self._folder = folder
        self._work = work
        self._pod: PodOfAFolder | None = None

    def create(self, manifest: dict[str, Any]) -> Mapping[str, Any]:
        kind, name = manifest["kind"], manifest["metadata"]["name"]
        if kind == self.forbidden:
            raise ClusterRefused(f"{kind} is forbidden", where="lab", remedy="", status=403)
        assert (kind, name) not in self.objects
        made = {**manifest, "metadata": {**manifest["metadata"], "uid": f"uid-{len(self.made)}"}}
        self.objects[kind, name] = made
        if kind == "Pod":
            self.pods.append(made)
        self.made.append(kind)
        if kind == "Pod":
            names = [each["name"] for each in manifest["spec"]["containers"]]
            running = [{"name": each, "state": {"running": {}}} for each in names]
            made["status"] = {"phase": "Running", "containerStatuses": running}
            made["spec"] = {**manifest["spec"], "nodeName": "worker-2"}
        if self.does_not_start and name.endswith(self.does_not_start):
            full = {"type": "PodScheduled", "status": "False", "message": "Insufficient cpu"}
            made["status"] = {"phase": "Pending", "conditions": [full]}
        if kind == "Pod" and "record" in names:
            run_id = manifest["spec"]["containers"][0]["command"][-1]
            folder = self._folder / f"volume-{len(self.made)}"
            self._pod = PodOfAFolder(folder, run_id, self._work)
        return made

    def read(self, kind: str, name: str) -> Mapping[str, Any] | None:
        if not self.reachable:
            raise ClusterUnreachable("it did not answer", where="lab")
        return self.objects.get((kind, name))

    def labelled(self, kind: str, selector: str) -> tuple[Mapping[str, Any], ...]:
        # Of one who has the rights that docs/kubernetes.md names.
        if kind == "Job":
            raise ClusterRefused("jobs.batch is forbidden", where="lab", remedy="", status=403)
        labels = dict(each.split("=") for each in selector.split(","))
        return tuple(
            found
            for (its_kind, _), found in self.objects.items()
            if its_kind == kind and labels.items() <= found["metadata"]["labels"].items()
        )

    def delete(self, kind: str, name: str) -> None:
        uid = self.objects.pop((kind, name))["metadata"]["uid"]
        if kind == "Pod" and self._pod is not None:
            self._pod.deleted.set()
        # As the garbage collector does; what is looked for as well is deleted by the run itself.
        for owned in [
            key
            for key, found in self.objects.items()
            if key[0] not in KINDS and found["metadata"]["ownerReferences"][0]["uid"] == uid
        ]:
            del self.objects[owned]

    def run_in(self, pod: str, container: str, command: Sequence[str]) -> Session | Said:
        if not self.reachable:
            raise ClusterUnreachable("it did not answer", where="lab")
        if command[0] == "cat":
            assert (pod.endswith("-testpmd"), container) == (True, "testpmd")
            return Said("Name:\tdpdk-testpmd", f"Cpus_allowed_list:\t{self.dut_cpus}")
        assert (container, command[0]) == ("record", "python3")
        if ("Pod", pod) not in self.objects:
            raise ClusterUnreachable("there is no such pod", where="lab")
        assert self._pod is not None
        return Session(self._pod.folder, self.breaks_after.pop(0) if self.breaks_after else None)


@pytest.fixture(autouse=True)
def _in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_in_cluster, "_LOOK_S", 0.05)
    monkeypatch.setattr(run_in_cluster, "_STOP_S", 10.0)


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    path = tmp_path / "demo.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "lab": {"kind": "testpmd-memif", "cpu": 1},
                "profile": {"streams": [{"name": "load", "role": "load"}]},
                "search": {"minimum": "1kpps", "maximum": "2kpps"},
            }
        )
    )
    return load_experiment(path)


@pytest.fixture
def run(tmp_path: Path, experiment: Experiment) -> RunDirectory:
    return RunDirectory.create(tmp_path / "runs", "demo", experiment.normalised())


def cluster_run(
    namespace: Namespace, run: RunDirectory, experiment: Experiment
) -> tuple[Callable[[], int], list[str]]:
    said: list[str] = []
    started = ClusterRun(namespace, run, experiment, said.append)  # type: ignore[arg-type]
    plan = plan_pods(experiment, "registry.lab/plimsoll", hugepages=False)
    return lambda: started.execute(plan), said


def finds(run: Path) -> int:
    """A run of a moment."""
    with (run / "journal.jsonl").open("a") as journal:
        journal.write('{"kind": "trial"}\n')
    said = f"1 search 2 kpps PASS\nreport: /var/lib/plimsoll/{run.name}/report.html\n"
    (run.parent / "output.log").write_text(said)
    (run / "result.json").write_text("{}")
    return 0


def test_a_run_is_deployed_fetched_and_removed(
    tmp_path: Path, run: RunDirectory, experiment: Experiment
) -> None:
    namespace = Namespace(tmp_path, finds)
    execute, said = cluster_run(namespace, run, experiment)
    assert execute() == 0
    assert namespace.made == ["ConfigMap", "Pod"]
    assert namespace.objects == {}
    assert run.journal.read_text() == '{"kind": "trial"}\n'
    assert run.result.is_file()
    assert "1 search 2 kpps PASS" in said
    # Where it is here, not in the pod.
    assert f"report: {run.path}/report.html" in said
    assert place_of(run.path) == {
        "on": "kube://lab/bench",
        "namespace": "bench",
        "name": name_of(run),
    }


def test_a_connection_that_breaks_is_made_again(
    tmp_path: Path, run: RunDirectory, experiment: Experiment
) -> None:
    namespace = Namespace(tmp_path, finds)
    namespace.breaks_after = [0, 0, 0]
    execute, said = cluster_run(namespace, run, experiment)
    assert execute() == 0
    # Once, as long as it is the same that is wrong.
    closed = "no connection to the run, which goes on: the connection was closed"
    assert said.count(closed) == 1
    assert namespace.made == ["ConfigMap", "Pod"]
    assert run.result.is_file()


def test_a_run_that_is_there_still_is_followed(
    tmp_path: Path, run: RunDirectory, experiment: Experiment
) -> None:
    """The process that deployed it is gone: another finds its pod, and begins nothing anew."""
    namespace = Namespace(tmp_path, finds)
    killed, _ = cluster_run(namespace, run, experiment)
    namespace.breaks_after = [0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClusterRun, "_follow", lambda self: (_ for _ in ()).throw(LeftRunning("x")))
        with pytest.raises(LeftRunning):
            killed()
    assert namespace.made == ["ConfigMap", "Pod"]
    execute, said = cluster_run(namespace, run, experiment)
    assert execute() == 0
    assert namespace.made == ["ConfigMap", "Pod"]
    assert any("is there still" in line for line in said)
    assert namespace.objects == {}


def test_an_interruption_ends_the_run_there_in_good_order(
    tmp_path: Path,
    run: RunDirectory,
    experiment: Experiment,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def works_until_stopped(folder: Path) -> int:
        while not (folder.parent / "stop").exists():
            time.sleep(0.01)
        (folder / "journal.jsonl").write_text('{"kind": "interrupted"}\n')
        return 130

    namespace = Namespace(tmp_path, works_until_stopped)
    execute, _ = cluster_run(namespace, run, experiment)
    look = ClusterRun._look

    def interrupted(self: ClusterRun) -> int | None:
        look(self)
        raise Interrupted

    monkeypatch.setattr(ClusterRun, "_look", interrupted)
    with pytest.raises(Interrupted):
        execute()
    assert run.journal.read_text() == '{"kind": "interrupted"}\n'
    assert namespace.objects == {}


def test_a_pod_whose_run_was_killed_is_an_error_and_what_came_is_kept(
    tmp_path: Path, run: RunDirectory, experiment: Experiment, says: Says
) -> None:
    def is_killed(folder: Path) -> None:
        (folder / "journal.jsonl").write_text('{"kind": "trial"}\n')
        (pod,) = (found for (kind, _), found in namespace.objects.items() if kind == "Pod")
        killed = {"exitCode": 137, "reason": "OOMKilled"}
        statuses = [RUNNING[0], {"name": "run", "state": {"terminated": killed}}]
        pod["status"] = {"phase": "Running", "containerStatuses": statuses}

    namespace = Namespace(tmp_path, is_killed)
    execute, _ = cluster_run(namespace, run, experiment)
    with pytest.raises(MachineError) as caught:
        execute()
    assert caught.value == says("Running", "OOMKilled")
    assert run.journal.read_text() == '{"kind": "trial"}\n'
    assert namespace.objects == {}


def test_a_new_pod_takes_along_what_was_recorded(
    tmp_path: Path, run: RunDirectory, experiment: Experiment
) -> None:
    """As after an eviction."""
    run.journal.write_text('{"kind": "run-started"}\n')
    namespace = Namespace(tmp_path, finds)
    execute, _ = cluster_run(namespace, run, experiment)
    assert execute() == 0
    assert run.journal.read_text() == '{"kind": "run-started"}\n{"kind": "trial"}\n'


def test_a_pod_that_was_evicted_while_no_one_followed_is_replaced(
    tmp_path: Path, run: RunDirectory, experiment: Experiment
) -> None:
    namespace = Namespace(tmp_path, finds)
    gone, _ = cluster_run(namespace, run, experiment)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClusterRun, "_follow", lambda self: (_ for _ in ()).throw(LeftRunning("x")))
        with pytest.raises(LeftRunning):
            gone()
    evicted = {"phase": "Failed", "message": "The node was low on resource: memory."}
    namespace.objects["Pod", name_of(run)]["status"] = evicted
    execute, said = cluster_run(namespace, run, experiment)
    assert execute() == 0
    assert namespace.made == ["ConfigMap", "Pod", "Pod"]
    assert any("low on resource: memory" in line for line in said)
    assert namespace.objects == {}


def test_a_cluster_that_does_not_answer_for_long_is_left_with_its_run(
    tmp_path: Path,
    run: RunDirectory,
    experiment: Experiment,
    monkeypatch: pytest.MonkeyPatch,
    says: Says,
) -> None:
    def goes_on(folder: Path) -> None:
        namespace.reachable = False

    monkeypatch.setattr(run_in_cluster, "_PATIENCE_S", 0.2)
    namespace = Namespace(tmp_path, goes_on)
    namespace.breaks_after = [3]
    execute, _ = cluster_run(namespace, run, experiment)
    with pytest.raises(LeftRunning) as left:
        execute()
    assert left.value == says("plimsoll runs clean --on kube://lab/bench")
    assert {kind for kind, _ in namespace.objects} == {"ConfigMap", "Pod"}


DUT = """
tuning:
  name: lab
  platform: openshift
  pool: {role: worker}
  cpus: {reserved: 0-1, isolated: 2-31}
  pods:
    - {name: trafficgen, role: generator, cpus: 6, memory: 4Gi}
    - {name: testpmd, role: dut, cpus: 2, memory: 1Gi, image: registry.lab/testpmd,
       command: [dpdk-testpmd]}
"""


@pytest.fixture
def against_a_dut(tmp_path: Path, experiment: Experiment) -> Experiment:
    assert not experiment.tuning
    (tmp_path / "dut.yaml").write_text((tmp_path / "demo.yaml").read_text() + DUT)
    return load_experiment(tmp_path / "dut.yaml")


def told_of(namespace: Namespace, run: RunDirectory) -> list[dict[str, Any]]:
    """The nodes that the run's pod is told of."""
    (pod,) = (each for each in namespace.pods if each["metadata"]["name"] == name_of(run))
    environment = {each["name"]: each.get("value") for each in pod["spec"]["containers"][0]["env"]}
    found: list[dict[str, Any]] = json.loads(environment.get("PLIMSOLL_OBSERVED") or "[]")
    return found


@pytest.mark.parametrize(
    ("allowed", "own"),
    [("2-3", [2, 3]), pytest.param("0-31", [], id="it shares the node's")],
)
def test_the_node_of_a_dut_is_observed(
    tmp_path: Path,
    run: RunDirectory,
    against_a_dut: Experiment,
    allowed: str,
    own: list[int],
) -> None:
    namespace = Namespace(tmp_path, finds)
    namespace.dut_cpus = allowed
    execute, _ = cluster_run(namespace, run, against_a_dut)
    assert execute() == 0
    rights = ["ServiceAccount", "Role", "RoleBinding"]
    assert namespace.made == ["ConfigMap", "Pod", *rights, "Pod", "Pod"]
    observer = f"kube:///bench/{name_of(run)}-testpmd-node/observe"
    assert told_of(namespace, run) == [{"name": "worker-2", "pod": observer, "cpus": own}]
    assert namespace.objects == {}


def test_who_may_not_give_rights_runs_without_observers(
    tmp_path: Path, run: RunDirectory, against_a_dut: Experiment, says: Says
) -> None:
    namespace = Namespace(tmp_path, finds)
    namespace.forbidden = "Role"
    execute, said = cluster_run(namespace, run, against_a_dut)
    assert execute() == 0
    assert passage(said, "Role") == says()
    assert told_of(namespace, run) == []
    assert namespace.objects == {}


def test_an_observer_that_does_not_start_keeps_no_run(
    tmp_path: Path,
    run: RunDirectory,
    against_a_dut: Experiment,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_in_cluster, "_OBSERVER_START_S", 0.1)
    namespace = Namespace(tmp_path, finds)
    namespace.does_not_start = "-node"
    execute, said = cluster_run(namespace, run, against_a_dut)
    assert execute() == 0
    assert any("not observed" in line and "Insufficient cpu" in line for line in said)
    assert told_of(namespace, run) == []
    assert namespace.objects == {}


def test_a_dut_that_does_not_start_ends_the_run(
    tmp_path: Path,
    run: RunDirectory,
    against_a_dut: Experiment,
    monkeypatch: pytest.MonkeyPatch,
    says: Says,
) -> None:
    monkeypatch.setattr(run_in_cluster, "_START_S", 0.1)
    namespace = Namespace(tmp_path, finds)
    namespace.does_not_start = "-testpmd"
    execute, _ = cluster_run(namespace, run, against_a_dut)
    with pytest.raises(MachineError) as ended:
        execute()
    assert ended.value == says("Pending")
    assert ended.value.where == f"pod {name_of(run)}-testpmd"
    assert namespace.objects == {}
