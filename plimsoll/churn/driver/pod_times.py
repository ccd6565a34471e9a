"""When a pod was made, and when it came to be ready: by our own watch and by its conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from plimsoll.churn.workload.namespace_objects import KIND_LABEL

READY = "Ready"
# In the order in which a kubelet sets them.
CONDITIONS = ("PodScheduled", "Initialized", "ContainersReady", READY)
_NS_PER_S = 1_000_000_000
_WHOLE_MS = 1000.0


@dataclass(slots=True)
class PodTimes:
    """Of one pod. `seen_ns` and `ready_ns` are when our watch saw it, in ns since the epoch.

    `created_s` is its creationTimestamp, `conditions_s` when each condition became true, all by
    the clocks of the cluster in whole seconds since the epoch.
    """

    uid: str
    namespace: str
    name: str
    kind: str
    created_s: float
    seen_ns: int
    ready_ns: int | None = None
    conditions_s: dict[str, float] = field(default_factory=dict)
    listed: bool = False

    @classmethod
    def of(cls, pod: Mapping[str, Any], seen_ns: int, *, listed: bool = False) -> PodTimes:
        """Of a pod that is seen for the first time."""
        metadata = pod["metadata"]
        return cls(
            uid=metadata["uid"],
            namespace=metadata["namespace"],
            name=metadata["name"],
            kind=str(metadata.get("labels", {}).get(KIND_LABEL, "other")),
            created_s=_seconds(metadata["creationTimestamp"]),
            seen_ns=seen_ns,
            listed=listed,
        )

    def note(self, pod: Mapping[str, Any], now_ns: int, *, listed: bool = False) -> None:
        """Take what the pod's status says now; what has been ready once stays so."""
        for condition in pod.get("status", {}).get("conditions") or ():
            if condition.get("status") != "True" or condition.get("type") not in CONDITIONS:
                continue
            since = condition.get("lastTransitionTime")
            if since is not None:
                self.conditions_s.setdefault(condition["type"], _seconds(since))
            if condition["type"] == READY and self.ready_ns is None:
                self.ready_ns = now_ns
                self.listed |= listed

    @property
    def ready_ms(self) -> float | None:
        """From our watch's seeing the pod to its seeing it ready.

        Of one that is `listed` by its conditions, to the second; None where they do not say.
        """
        if self.ready_ns is None:
            return None
        if self.listed:
            since = self.condition_s(READY)
            return None if since is None else since * 1e3
        return (self.ready_ns - self.seen_ns) / 1e6

    @property
    def ready_between_ms(self) -> tuple[float, float] | None:
        """What that was at least and at most.

        Of one that is `listed`: both times are cut off to the second, so the true one is up to a
        second more, or less.
        """
        if self.ready_ms is None:
            return None
        if not self.listed:
            return self.ready_ms, self.ready_ms
        return max(0.0, self.ready_ms - _WHOLE_MS), self.ready_ms + _WHOLE_MS

    def condition_s(self, condition: str) -> float | None:
        """From its creation to a condition, as kube-burner has it: to the second."""
        since = self.conditions_s.get(condition)
        return None if since is None else since - self.created_s


def _seconds(written: str) -> float:
    """Since the epoch, of RFC 3339."""
    return datetime.fromisoformat(written).timestamp()
