"""The pod of `plimsoll run --on`, as podman runs it from the very manifests, and its record.

podman reads Kubernetes' objects (`podman kube play`) and runs their containers by runc with the
rights, volumes and users that they ask for: all of a cluster but the API server and the kubelet.
The exec session is `podman exec`. Opt-in, for it takes the image: `make image`, as root.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.cluster.pods.gathering import Gathering
from plimsoll.cluster.pods.manifests import RECORD, owner_manifest, run_pod
from plimsoll.cluster.pods.pod_plan import plan_pods
from plimsoll.host.kubernetes.exec_stream import StreamEnded
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from tests.integration.command import Workplace

pytestmark = pytest.mark.full
IMAGE_VARIABLE = "PLIMSOLL_TEST_IMAGE_NAME"
NAME = "plimsoll-0123456789"
_LONGEST_S = 200.0
# As a machine with cgroup v1 and without systemd needs it.
_CONTAINERS = """\
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=30000:30000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""


class Podman:
    def __init__(self, folder: Path) -> None:
        (folder / "containers.conf").write_text(_CONTAINERS)
        self.environment = {**os.environ, "CONTAINERS_CONF": str(folder / "containers.conf")}
        more = os.environ.get("PLIMSOLL_TEST_PODMAN", "").split()
        self.command = ["podman", *more]

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.command, *map(str, words)],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def must(self, *words: object) -> str:
        found = self.run(*words)
        assert found.returncode == 0, found.stderr
        return found.stdout


class PodmanExec:
    """A record server's input and output."""

    def __init__(self, podman: Podman, container: str) -> None:
        server = ("python3", "-m", "plimsoll.cluster.pods.record_server", RECORD)
        self._process = subprocess.Popen(
            [*podman.command, "exec", "--interactive", container, *server],
            env=podman.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def read_line(self, timeout_s: float) -> bytes:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise StreamEnded("it ended", where="podman", remedy="")
        return line.rstrip(b"\n")

    def read(self, length: int, timeout_s: float) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.read(length)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def podman(tmp_path: Path) -> Iterator[Podman]:
    image = os.environ.get(IMAGE_VARIABLE)
    if os.geteuid() != 0 or shutil.which("podman") is None or image is None:
        pytest.skip(f"it takes root, podman, and an image of make image named by {IMAGE_VARIABLE}")
    found = Podman(tmp_path)
    if found.run("image", "exists", image).returncode != 0:
        pytest.skip(f"podman has no image {image}")
    yield found
    found.run("pod", "rm", "--force", "--time", "5", NAME)
    found.run("volume", "rm", "--all", "--force")


@pytest.fixture
def run(place: Workplace) -> RunDirectory:
    cpus = {"lab": {"kind": "testpmd-memif", "cpu": 1}, "generator": {"cpus": [0]}}
    experiment = load_experiment(place.experiment(**cpus))
    return RunDirectory.create(place.runs, experiment.name, experiment.normalised())


def deploy(podman: Podman, run: RunDirectory, folder: Path) -> None:
    experiment = load_experiment(run.experiment)
    plan = plan_pods(experiment, os.environ[IMAGE_VARIABLE], hugepages=False)
    owner = owner_manifest(NAME, run.run_id, run.experiment.read_text())
    owner["metadata"]["uid"] = "0"
    pod: dict[str, Any] = run_pod(NAME, run.run_id, plan, owner)
    path = folder / "pod.yaml"
    path.write_text(yaml.safe_dump_all([owner, pod]))
    podman.must("kube", "play", "--network", "none", path)


def test_the_pod_runs_and_its_record_comes_here(
    podman: Podman, run: RunDirectory, place: Workplace, tmp_path: Path
) -> None:
    deploy(podman, run, tmp_path)
    said: list[str] = []
    gathering = Gathering(run, said.append)
    stream = PodmanExec(podman, f"{NAME}-record")
    gathering.fetch(stream)
    assert not gathering.begun
    gathering.begin(stream, with_record=False)
    deadline = time.monotonic() + _LONGEST_S
    broken = False
    while gathering.status is None and time.monotonic() < deadline:
        gathering.fetch(stream)
        if not broken and read_journal(run.journal).trials():
            # In the middle of the run the connection goes, and another is made.
            broken = True
            stream.close()
            stream = PodmanExec(podman, f"{NAME}-record")
        time.sleep(1)
    stream.close()
    assert gathering.status == 0, said[-20:]
    assert broken
    # What it was is asked of the runtime: no rights, no root, nothing to write but volumes.
    inspected = podman.must(
        *(
            "inspect",
            "--format",
            "{{.EffectiveCaps}} {{.Config.User}} {{.HostConfig.ReadonlyRootfs}}",
        ),
        f"{NAME}-run",
    )
    assert inspected.split() == ["[]", "65532:65532", "true"]
    checked = place.run("runs", "check", run.path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    shown = place.run("runs", "show", run.path, "--json")
    assert shown.returncode == 0, shown.stderr
    assert run.report.is_file()
