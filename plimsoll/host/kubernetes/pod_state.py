"""What the API server says of a pod: whether it has started, and why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# Which the kubelet retries for ever, and which will not come right by itself.
_HOPELESS = frozenset(
    {
        "CreateContainerConfigError",
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "RunContainerError",
    }
)


@dataclass(frozen=True, slots=True)
class PodState:
    """`phase` is the pod's, "gone" where there is none; `waiting` why containers wait.

    `running` and `terminated` have the containers' names, the latter with their exit statuses.
    """

    phase: str
    running: frozenset[str]
    terminated: Mapping[str, int]
    waiting: tuple[str, ...]
    said: str = ""

    @classmethod
    def of(cls, pod: Mapping[str, Any] | None) -> PodState:
        """From the object as the server has it."""
        if pod is None:
            return cls("gone", frozenset(), {}, (), "there is no such pod any more")
        status = pod.get("status") or {}
        containers = status.get("containerStatuses") or ()
        states = {each["name"]: each.get("state") or {} for each in containers}
        return cls(
            phase=str(status.get("phase") or "Pending"),
            running=frozenset(name for name, state in states.items() if "running" in state),
            terminated={
                name: int(state["terminated"].get("exitCode", -1))
                for name, state in states.items()
                if "terminated" in state
            },
            waiting=tuple(
                str(state["waiting"].get("reason") or "")
                for state in states.values()
                if "waiting" in state
            ),
            # Several conditions often have the same reason.
            said=" ".join(dict.fromkeys(_said(status, states))),
        )

    def started(self, container: str) -> bool:
        """Whether commands can be run in it."""
        return container in self.running

    def ended(self, container: str) -> bool:
        """Whether it ran, and does no longer."""
        return container in self.terminated

    @property
    def over(self) -> bool:
        """Whether there is none that could run, or answer."""
        return self.phase in ("Failed", "Succeeded", "gone")

    @property
    def hopeless(self) -> bool:
        """Whether it will not start without someone's doing."""
        return self.over or any(each in _HOPELESS for each in self.waiting)

    @property
    def reason(self) -> str:
        """Why it is as it is, in the server's words."""
        return f"{self.phase}: {self.said}" if self.said else self.phase


def _said(status: Mapping[str, Any], states: Mapping[str, Any]) -> Iterator[str]:
    for condition in status.get("conditions") or ():
        if condition.get("status") == "False" and condition.get("message"):
            yield str(condition["message"])
    for name, state in states.items():
        for kind in ("waiting", "terminated"):
            if found := state.get(kind):
                yield f"{name}: {found.get('message') or found.get('reason') or kind}"
    if status.get("message"):
        yield str(status["message"])
