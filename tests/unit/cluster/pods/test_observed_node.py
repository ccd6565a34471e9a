"""What a run in its pod makes of the nodes that it is told of."""

import json
from pathlib import Path

import pytest
import yaml

from plimsoll.cluster.pods.inside import placed
from plimsoll.cluster.pods.manifests import (
    NODE_VARIABLE,
    OBSERVED_VARIABLE,
    ObservedNode,
    as_json,
)
from plimsoll.host.cpus import allowed_cpus

NODES = (
    ObservedNode("worker-1", "kube:///bench/run-near-node/observe", (4, 5)),
    ObservedNode("worker-2", "kube:///bench/run-far-node/observe", (2, 3)),
)


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "experiment.yaml"
    first = min(allowed_cpus())
    path.write_text(
        yaml.safe_dump(
            {
                "lab": {"kind": "testpmd-memif", "cpu": first},
                "generator": {"cpus": [first]},
                "profile": {"streams": [{"name": "load", "role": "load"}]},
                "search": {"minimum": "1kpps", "maximum": "2kpps"},
                "observe": {"hosts": [{"ssh": "root@switch.lab"}]},
            }
        )
    )
    return path


def test_nodes_are_observed_but_for_its_own(
    experiment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(OBSERVED_VARIABLE, as_json(NODES))
    monkeypatch.setenv(NODE_VARIABLE, "worker-1")
    written, node = placed(experiment).observe.hosts
    assert written.ssh == "root@switch.lab"
    assert (node.pod, node.polled_cpus) == ("kube:///bench/run-far-node/observe", (2, 3))


def test_without_any_the_experiment_is_as_written(
    experiment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (written,) = placed(experiment).observe.hosts
    monkeypatch.setenv(OBSERVED_VARIABLE, json.dumps([]))
    assert placed(experiment).observe.hosts == (written,)
