"""A run in a cluster, from here: deployed, followed, gathered, and everything of it removed.

The run itself, its searches and trials included, goes on in the pod, next to what it measures.
This end may go away at any time and come back (docs/decisions/018).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.cluster.pods.cluster_client import ClusterClient
from plimsoll.cluster.pods.gathering import Gathering
from plimsoll.cluster.pods.manifests import (
    OBSERVER_CONTAINER,
    RECORD,
    RECORD_CONTAINER,
    RUN_CONTAINER,
    RUN_LABEL,
    ObservedNode,
    dut_name,
    dut_pods,
    observer_name,
    owner_manifest,
    run_pod,
)
from plimsoll.cluster.pods.node_observers import NodeObservers, create_if_missing
from plimsoll.cluster.pods.pod_plan import PodPlan
from plimsoll.cluster.pods.removal import remove_labelled
from plimsoll.errors import Interrupted, MachineError, PlimsollError
from plimsoll.host.kubernetes.cluster_errors import ClusterRefused, ClusterUnreachable
from plimsoll.host.kubernetes.exec_stream import ExecStream, StreamEnded
from plimsoll.host.kubernetes.pod_state import PodState
from plimsoll.record.files.whole_file import write_whole
from plimsoll.record.run.run_directory import RunDirectory

# In the run directory: where in which cluster the run is, or was last.
PLACE_FILE = "cluster.json"
_LOOK_S = 3.0
# Pulling an image of half a GB over a slow link.
_START_S = 900.0
# A run is not kept waiting for long by what only watches.
_OBSERVER_START_S = 300.0
# How long a cluster that does not answer is tried again before the run is left to itself.
_PATIENCE_S = 600.0
_STOP_S = 120.0
_FORBIDDEN = 403
_SERVER = ("python3", "-m", "plimsoll.cluster.pods.record_server", RECORD)


class LeftRunning(PlimsollError):
    """The cluster does not answer; what runs there goes on."""

    exit_code = MachineError.exit_code


def name_of(run: RunDirectory) -> str:
    """Of all objects of the run: valid wherever Kubernetes takes a name, and no other run's."""
    digest = hashlib.sha256(str(run.path.resolve()).encode()).hexdigest()
    return f"plimsoll-{digest[:10]}"


class ClusterRun:
    """One run and its objects in one namespace."""

    def __init__(
        self,
        client: ClusterClient,
        run: RunDirectory,
        experiment: Experiment,
        tell: Callable[[str], None],
    ) -> None:
        self._client = client
        self._run = run
        self._experiment = experiment
        self._tell = tell
        self._name = name_of(run)
        self._gathering = Gathering(run, self._tell_of_here)
        self._stream: ExecStream | None = None

    def execute(self, plan: PodPlan) -> int:
        """Deploy the run or find it again, follow it to its end, remove it; its exit status.

        An interruption here ends the run there in good order, and it is removed as well.
        Raises LeftRunning where the cluster does not answer for long, and PlimsollError.
        """
        try:
            self._deploy(plan)
            status = self._follow()
        except (Interrupted, KeyboardInterrupt):
            self._stop()
            self._remove()
            raise
        except LeftRunning:
            raise
        except PlimsollError:
            # What was recorded is worth more than what went wrong.
            with contextlib.suppress(PlimsollError):
                self._gathering.fetch(self._connected())
            with contextlib.suppress(PlimsollError):
                self._remove()
            raise
        self._remove()
        return status

    def _tell_of_here(self, line: str) -> None:
        """What the run there says, with the place that its record has here."""
        self._tell(line.replace(f"{RECORD}/{self._run.run_id}", str(self._run.path)))

    def _deploy(self, plan: PodPlan) -> None:
        note_place(self._client, self._run)
        if self._is_there():
            self._tell(f"the run is there still: pod {self._name}")
            return
        experiment = yaml.safe_dump(self._experiment.normalised(), sort_keys=False)
        owner = self._client.read("ConfigMap", self._name) or self._client.create(
            owner_manifest(self._name, self._run.run_id, experiment)
        )
        for manifest in dut_pods(self._name, self._run.run_id, plan, owner):
            create_if_missing(self._client, manifest)
        observed = self._observed(plan, owner)
        self._client.create(run_pod(self._name, self._run.run_id, plan, owner, observed))
        self._tell(f"pod {self._name} in namespace {self._client.namespace}")

    def _is_there(self) -> bool:
        """Whether it has its pod; one that ended, as by eviction, is removed and waited for."""
        while (pod := self._client.read("Pod", self._name)) is not None:
            if not pod["metadata"].get("deletionTimestamp"):
                state = PodState.of(pod)
                if not state.over:
                    return True
                self._tell(f"its pod has ended, and is removed: {state.reason}")
                self._client.delete("Pod", self._name)
            time.sleep(_LOOK_S / 3)
        return False

    def _observed(self, plan: PodPlan, owner: Mapping[str, Any]) -> tuple[ObservedNode, ...]:
        """The nodes of its DUTs, once these and their observers have started."""
        if not (plan.duts and self._experiment.observe.enabled):
            return ()
        observers = NodeObservers(self._client, self._name, plan)
        try:
            observers.make(self._run.run_id, owner)
        except ClusterRefused as error:
            if error.status != _FORBIDDEN:
                raise
            self._tell(f"the nodes of the DUTs are not observed: {error.message}")
            return ()
        for pod in plan.duts:
            self._wait_until_started(dut_name(self._name, pod), pod.name, _START_S)
        try:
            for pod in plan.duts:
                observer = observer_name(self._name, pod)
                self._wait_until_started(observer, OBSERVER_CONTAINER, _OBSERVER_START_S)
        except MachineError as error:
            self._tell(f"the nodes of the DUTs are not observed: {error}")
            return ()
        return observers.nodes()

    def _follow(self) -> int:
        """Until it has ended and all of it is here. Raises LeftRunning and MachineError."""
        self._wait_until_started(self._name, RECORD_CONTAINER, _START_S)
        answered_s, said = time.monotonic(), ""
        while True:
            try:
                if (status := self._look()) is not None:
                    return status
                answered_s, said = time.monotonic(), ""
            except (StreamEnded, ClusterUnreachable) as error:
                self._hang_up()
                if error.message != said:
                    said = error.message
                    self._tell(f"no connection to the run, which goes on: {said}")
                if time.monotonic() - answered_s > _PATIENCE_S:
                    raise left(self._client, error) from error
                self._check_pod(error)
            time.sleep(_LOOK_S)

    def _look(self) -> int | None:
        """Fetch what is new; the run's exit status once it has ended."""
        stream = self._connected()
        self._gathering.fetch(stream)
        if not self._gathering.begun:
            self._gathering.begin(stream, with_record=self._run.journal.stat().st_size > 0)
        if self._gathering.status is None and (state := self._state()).ended(RUN_CONTAINER):
            # What it wrote last is there by now.
            self._gathering.fetch(stream)
            if self._gathering.status is None:
                raise self._gone(state)
        return self._gathering.status

    def _check_pod(self, error: PlimsollError) -> None:
        """Raise MachineError where there is no pod any more that could answer."""
        with contextlib.suppress(ClusterUnreachable):
            state = self._state()
            if state.over or state.ended(RECORD_CONTAINER):
                raise self._gone(state) from error

    def _gone(self, state: PodState) -> MachineError:
        return MachineError(
            f"the run's pod ended before the run: {state.reason}",
            where=f"pod {self._name}",
            remedy="resume with --resume: what was fetched is kept",
        )

    def _wait_until_started(self, pod: str, container: str, most_s: float) -> None:
        deadline, said = time.monotonic() + most_s, ""
        while not (state := self._state(pod)).started(container):
            if state.hopeless or time.monotonic() > deadline:
                raise MachineError(
                    f"the pod does not start: {state.reason}",
                    where=f"pod {pod}",
                    remedy="see to the image, and to nodes with the CPUs, pages and VFs requested",
                )
            if state.reason != said:
                said = state.reason
                self._tell(f"waiting for pod {pod}: {said}")
            time.sleep(_LOOK_S / 3)

    def _state(self, pod: str | None = None) -> PodState:
        return PodState.of(self._client.read("Pod", pod or self._name))

    def _connected(self) -> ExecStream:
        if self._stream is None:
            self._stream = self._client.run_in(self._name, RECORD_CONTAINER, _SERVER)
        return self._stream

    def _hang_up(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _stop(self) -> None:
        """End the run in good order and bring what it left, as far as the cluster answers."""
        self._tell("ending the run in the cluster")
        with contextlib.suppress(PlimsollError):
            self._gathering.stop(self._connected())
            deadline = time.monotonic() + _STOP_S
            while self._gathering.status is None and time.monotonic() < deadline:
                self._gathering.fetch(self._connected())
                time.sleep(_LOOK_S / 3)

    def _remove(self) -> None:
        self._hang_up()
        for each in remove_labelled(self._client, f"{RUN_LABEL}={self._name}"):
            self._tell(f"removed {each}")


def note_place(client: ClusterClient, run: RunDirectory) -> None:
    """Write into the run directory where its objects are, before they are made."""
    place = {"on": str(client.place), "namespace": client.namespace, "name": name_of(run)}
    write_whole(run.path / PLACE_FILE, json.dumps(place, indent=2) + "\n")


def left(client: ClusterClient, error: PlimsollError) -> LeftRunning:
    """That a cluster has not answered for as long as it is waited for."""
    return LeftRunning(
        f"the cluster has not answered for {_PATIENCE_S:g} s ({error.message}); the run continues",
        where=str(client.place),
        remedy="come back with --resume, or remove it with "
        f"plimsoll runs clean --on {client.place}",
    )


def place_of(run: Path) -> Mapping[str, str] | None:
    """Where the run of that directory was last in a cluster; None where it never was."""
    try:
        found = json.loads((run / PLACE_FILE).read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
