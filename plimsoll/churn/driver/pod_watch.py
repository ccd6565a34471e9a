"""Follows all pods of a run, and keeps when each was seen and ready."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from plimsoll.churn.api.writing_client import WritingClient
from plimsoll.churn.driver.pod_times import PodTimes

_PODS = "/api/v1/pods"
_WATCH_S = 300
_PAUSE_S = 1.0


class PodWatch:
    """Pods that a label selects, in a thread of its own. `watching` opens one."""

    def __init__(self, client: WritingClient, selector: str) -> None:
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
def watching(client: WritingClient, selector: str) -> Iterator[PodWatch]:
    """Follow the pods for the length of a `with`."""
    watch = PodWatch(client, selector)
    # A daemon: it ends with its connection's next word, which need not come before we end.
    thread = threading.Thread(target=watch.follow, name="pod-watch", daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        watch.end()
