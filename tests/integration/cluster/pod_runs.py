"""`plimsoll run --on kube://…` on a real kubelet: told as JSON lines, one an observation.

`python -m tests.integration.cluster.pod_runs FOLDER IMAGE_ARCHIVE…`, run by `enter` as the first
process of its own namespaces.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.integration.cluster.real_node import Node, real_node
from tests.integration.command import QUICK, ROOT

_LONGEST_S = 600
# A pod that fits a node of two CPUs: it asks for one, and the node's kubelet enforces no quota.
_TUNING = {
    "name": "node",
    "platform": "vm",
    "cpus": {"reserved": "0", "isolated": "1"},
    "pods": [{"name": "plimsoll", "role": "generator", "cpus": 1, "memory": "3Gi"}],
}
_EXPERIMENT = {
    **QUICK,
    "lab": {"kind": "testpmd-memif", "cpu": 1},
    "generator": {"cpus": [0]},
    "tuning": _TUNING,
}


class Laptop:
    """Who starts runs, with a kubeconfig and a folder of runs."""

    def __init__(self, node: Node, folder: Path, image: str) -> None:
        self._node = node
        self._folder = folder
        self._environment = {
            **os.environ,
            "KUBECONFIG": str(node.config),
            "PLIMSOLL_IMAGE": image,
            "PLIMSOLL_STATE": str(folder / "state"),
            "COLUMNS": "200",
        }

    def start(self, *words: object) -> subprocess.Popen[str]:
        argv = [sys.executable, "-m", "plimsoll.cli", *(str(word) for word in words)]
        return subprocess.Popen(
            argv,
            cwd=ROOT,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def end(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        said, _ = process.communicate(timeout=_LONGEST_S)
        return {"status": process.returncode, "said": said.splitlines()[-60:]}

    def run(self, *words: object) -> dict[str, Any]:
        return self.end(self.start(*words))

    def pods(self) -> list[str]:
        listed = self._node.owner.list_names("v1", "Pod", "default")
        return [*listed, *self._node.owner.list_names("v1", "ConfigMap", "default")]

    def journal(self) -> list[dict[str, Any]]:
        (run,) = (self._folder / "runs").iterdir()
        lines = (run / "journal.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


def tell(**observed: object) -> None:
    print(json.dumps(observed), flush=True)


def main(folder: Path, images: Sequence[Path], image: str) -> None:
    began = time.monotonic()
    with real_node(folder / "node", images) as node:
        tell(what="ready", seconds=time.monotonic() - began, images=node.images().split())
        run_whole(Laptop(node, _made(folder / "whole"), image), folder / "whole")
        killed_and_gone_on_with(Laptop(node, _made(folder / "killed"), image), folder / "killed")
        killed_and_cleaned(Laptop(node, _made(folder / "left"), image), folder / "left")


def run_whole(laptop: Laptop, folder: Path) -> None:
    """A run from its beginning to its end."""
    began = time.monotonic()
    found = laptop.run("run", _experiment(folder), "--on", "kube://", "--runs", folder / "runs")
    seconds = time.monotonic() - began
    tell(what="whole", seconds=seconds, left=_left(laptop), files=_files(folder), **found)


def killed_and_gone_on_with(laptop: Laptop, folder: Path) -> None:
    """The laptop's process is killed in the middle; the run in the pod is followed again."""
    process = laptop.start("run", _experiment(folder), "--on", "kube://", "--runs", folder / "runs")
    _wait_for_trials(laptop, folder, 1)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    pods = laptop.pods()
    (run,) = (folder / "runs").iterdir()
    found = laptop.run("run", "--resume", run)
    resumed = [each for each in laptop.journal() if each["kind"] == "run-resumed"]
    tell(what="killed", pods=pods, left=_left(laptop), resumed=len(resumed), **found)


def killed_and_cleaned(laptop: Laptop, folder: Path) -> None:
    """The laptop's process is killed, and everything is removed by its labels."""
    process = laptop.start("run", _experiment(folder), "--on", "kube://", "--runs", folder / "runs")
    _wait_for_trials(laptop, folder, 1)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    found = laptop.run("cluster", "clean", "kube://")
    tell(what="cleaned", left=_left(laptop), **found)


def _left(laptop: Laptop) -> list[str]:
    """What of ours the server still has, once the kubelet has ended what was deleted."""
    deadline = time.monotonic() + 120
    while True:
        left = [name for name in laptop.pods() if name.startswith("plimsoll-")]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(1)


def _wait_for_trials(laptop: Laptop, folder: Path, count: int) -> None:
    deadline = time.monotonic() + _LONGEST_S
    while time.monotonic() < deadline:
        if (folder / "runs").is_dir() and any((folder / "runs").iterdir()):
            ended = [each for each in laptop.journal() if each["kind"] == "trial"]
            if len(ended) >= count:
                return
        time.sleep(0.5)
    raise AssertionError("no trial came here")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _experiment(folder: Path) -> Path:
    path = folder / "quick.yaml"
    path.write_text(yaml.safe_dump(_EXPERIMENT))
    return path


def _files(folder: Path) -> list[str]:
    (run,) = (folder / "runs").iterdir()
    return sorted(p.relative_to(run).as_posix() for p in run.rglob("*") if p.is_file())


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(each) for each in sys.argv[3:]], sys.argv[2])
