"""Follows all pods of a run, and keeps when each was seen and ready."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from plimsoll.churn.driver.workload import KIND_LABEL
from plimsoll.host.kubernetes.api_client import ApiClient

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


_PODS = "/api/v1/pods"
_WATCH_S = 300
_PAUSE_S = 1.0


class PodWatch:
    """Pods that a label selects, in a thread of its own. `watching` opens one."""

    def __init__(self, client: ApiClient, selector: str) -> None:
        self._client = client
        self._selector = selector
        self._changed = threading.Condition()
        self._pods: dict[str, PodTimes] = {}
        self._there: set[str] = set()
        self._ended = threading.Event()

    def pods(self, since_ns: int = 0) -> tuple[PodTimes, ...]:
        """All that were first seen from then on, those that are gone again too."""
        with self._changed:
            return tuple(pod for pod in self._pods.values() if pod.seen_ns >= since_ns)

    def wait_until_ready(
        self, pods_by_namespace: Mapping[str, int], since_ns: int, timeout_s: float
    ) -> bool:
        """Whether each namespace came to have as many ready pods, first seen since then, in time.

        Wakes a few times a second, so that a signal's exception is raised.
        """
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while not self._all_ready(pods_by_namespace, since_ns):
                if time.monotonic() > deadline:
                    return False
                self._changed.wait(0.2)
        return True

    def follow(self) -> None:
        """Watch until `end`; for the thread."""
        version: str | None = None
        while not self._ended.is_set():
            try:
                if version is None:
                    version = self._list()
                version = self._watch(version)
            except Exception:
                # Whatever a broken connection makes a client raise: it begins anew.
                version = None
                self._ended.wait(_PAUSE_S)

    def end(self) -> None:
        """Let `follow` end with the next event, or its connection."""
        self._ended.set()

    def _list(self) -> str:
        """What is there; anything new in it came when nothing was watched."""
        items, version = self._client.items(_PODS, self._selector)
        now_ns = time.time_ns()
        with self._changed:
            self._there = {pod["metadata"]["uid"] for pod in items}
            for pod in items:
                self._note(pod, now_ns, listed=True)
            self._changed.notify_all()
        return version

    def _watch(self, version: str) -> str | None:
        query = {"labelSelector": self._selector}
        for event in self._client.watch(_PODS, query, version, _WATCH_S):
            now_ns = time.time_ns()
            if self._ended.is_set():
                return None
            if event.kind == "ERROR":
                return None
            version = str(event.object["metadata"]["resourceVersion"])
            if event.kind == "BOOKMARK":
                continue
            with self._changed:
                if event.kind == "DELETED":
                    self._there.discard(event.object["metadata"]["uid"])
                else:
                    self._note(event.object, now_ns)
                self._changed.notify_all()
        return version

    def _note(self, pod: Mapping[str, Any], now_ns: int, *, listed: bool = False) -> None:
        uid = pod["metadata"]["uid"]
        self._there.add(uid)
        if uid not in self._pods:
            self._pods[uid] = PodTimes.of(pod, now_ns, listed=listed)
        self._pods[uid].note(pod, now_ns, listed=listed)

    def _all_ready(self, pods_by_namespace: Mapping[str, int], since_ns: int) -> bool:
        ready = Counter(
            pod.namespace
            for pod in self._pods.values()
            if pod.ready_ns is not None and pod.seen_ns >= since_ns and pod.uid in self._there
        )
        return all(ready[name] >= pods for name, pods in pods_by_namespace.items())


@contextmanager
def watching(client: ApiClient, selector: str) -> Iterator[PodWatch]:
    """Follow the pods for the length of a `with`."""
    watch = PodWatch(client, selector)
    # A daemon: it ends with its connection's next word, which need not come before we end.
    thread = threading.Thread(target=watch.follow, name="pod-watch", daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        watch.end()
