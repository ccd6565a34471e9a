from typing import Any

import pytest

from plimsoll.host.kubernetes.pod_state import PodState
from tests.worded.says import Says


def pod(phase: str, **states: dict[str, Any]) -> dict[str, Any]:
    containers = [{"name": name, "state": state} for name, state in states.items()]
    return {"status": {"phase": phase, "containerStatuses": containers}}


def test_a_pod_that_no_node_has_room_for_says_why_and_may_still_start(says: Says) -> None:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/3 nodes are available: 3 Insufficient cpu.",
    }
    state = PodState.of({"status": {"phase": "Pending", "conditions": [condition]}})
    assert (state.hopeless, state.started("record")) == (False, False)
    assert state.reason == says("Pending", "0/3")


@pytest.mark.parametrize("reason", ["ImagePullBackOff", "CreateContainerConfigError"])
def test_an_image_that_cannot_be_had_is_hopeless(reason: str, says: Says) -> None:
    state = PodState.of(pod("Pending", run={"waiting": {"reason": reason, "message": "no image"}}))
    assert state.hopeless
    assert state.reason == says("image")


def test_a_container_that_is_created_is_waited_for() -> None:
    state = PodState.of(pod("Pending", record={"waiting": {"reason": "ContainerCreating"}}))
    assert not state.hopeless


def test_a_run_that_ended_leaves_the_keeper() -> None:
    state = PodState.of(pod("Running", run={"terminated": {"exitCode": 5}}, record={"running": {}}))
    assert state.started("record")
    assert not state.ended("record")
    assert state.terminated == {"run": 5}


def test_a_pod_that_is_gone() -> None:
    state = PodState.of(None)
    assert (state.phase, state.hopeless) == ("gone", True)
