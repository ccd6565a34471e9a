"""A watch that breaks: pods that came while nothing was watched are timed by their conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import pytest

from plimsoll.churn.driver import pod_watch
from plimsoll.churn.driver.pod_watch import PodWatch
from plimsoll.churn.figures import control_plane_figures
from plimsoll.churn.kpis.sampler import KpiReading
from plimsoll.host.kubernetes.api_client import ApiClient

READINGS = [KpiReading(at_ns, {}, {}, None) for at_ns in (0, 10**9)]


@dataclass(frozen=True)
class Event:
    kind: str
    object: Mapping[str, Any]


def pod(name: str, ready_after_s: int | None = None) -> dict[str, Any]:
    """Made at second 10 of a minute."""
    conditions = []
    if ready_after_s is not None:
        at = f"2026-11-28T12:00:{10 + ready_after_s}Z"
        conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": at}]
    return {
        "metadata": {
            "uid": name,
            "namespace": "n",
            "name": name,
            "creationTimestamp": "2026-11-28T12:00:10Z",
            "resourceVersion": "7",
        },
        "status": {"conditions": conditions},
    }


class Cluster:
    """Lists and events one after the other; a watch ends with its events, broken or not.

    With the last of them the watch is over.
    """

    def __init__(self, lists: list[list[Any]], watches: list[list[Event | Exception]]) -> None:
        self._lists = lists
        self._watches = watches
        self.pods = PodWatch(cast(ApiClient, self), "all")

    def items(self, path: str, selector: str) -> tuple[list[Any], str]:
        return self._lists.pop(0), "1"

    def watch(self, *_: object) -> Iterator[Event]:
        for each in self._watches.pop(0):
            if isinstance(each, Exception):
                raise each
            yield each
        if not self._watches:
            self.pods.end()


def followed(
    monkeypatch: pytest.MonkeyPatch, lists: list[list[Any]], watches: list[list[Event | Exception]]
) -> PodWatch:
    """The watch after all that; our clock goes on by 100 ms with each look at it."""
    looks = iter(range(1, 1000))
    monkeypatch.setattr(pod_watch.time, "time_ns", lambda: next(looks) * 100_000_000)
    monkeypatch.setattr(pod_watch, "_PAUSE_S", 0)
    cluster = Cluster(lists, watches)
    cluster.pods.follow()
    return cluster.pods


@pytest.mark.parametrize("broken", [ConnectionError("reset"), Event("ERROR", {"code": 410})])
def test_pods_that_a_list_is_the_first_to_show_ready_are_timed_by_conditions(
    monkeypatch: pytest.MonkeyPatch, broken: Event | Exception
) -> None:
    """50 pods came and were ready, after 9 s, while the watch was broken."""
    late = [pod(f"late{n}", ready_after_s=9) for n in range(50)]
    watch = followed(monkeypatch, [[], late], [[broken], []])
    pods = watch.pods()
    assert [(each.ready_ms, each.listed) for each in pods] == [(9000, True)] * 50
    readiness = control_plane_figures(READINGS, pods, {}, None).readiness[0]
    assert (readiness.pods, readiness.by_conditions) == (50, 50)
    assert (readiness.p50_ms, readiness.p99_ms, readiness.max_ms) == (9000, 9000, 9000)


def test_a_pod_that_was_seen_before_and_ready_in_the_gap_is_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watch = followed(
        monkeypatch,
        [[], [pod("a", 4), pod("b")]],
        [
            [Event("ADDED", pod("a")), ConnectionError("reset")],
            [
                Event("MODIFIED", pod("b", 5)),
                Event("ADDED", pod("c")),
                Event("MODIFIED", pod("c", 2)),
            ],
        ],
    )
    found = {each.name: (each.ready_ms, each.listed) for each in watch.pods()}
    # c by our clock, which goes on by 100 ms with each event.
    assert found == {"a": (4000, True), "b": (5000, True), "c": (100, False)}


def test_a_pod_that_was_ready_before_the_gap_keeps_our_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watch = followed(
        monkeypatch,
        [[], [pod("a", 3)]],
        [[Event("ADDED", pod("a")), Event("MODIFIED", pod("a", 3)), ConnectionError()], []],
    )
    assert [(each.ready_ms, each.listed) for each in watch.pods()] == [(100, False)]


def test_one_whose_conditions_have_no_time_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    untimed = pod("a", 3)
    del untimed["status"]["conditions"][0]["lastTransitionTime"]
    watch = followed(monkeypatch, [[], [untimed]], [[ConnectionError()], []])
    (found,) = watch.pods()
    assert (found.ready_ms, found.ready_ns is not None) == (None, True)
    assert control_plane_figures(READINGS, [found], {}, None).readiness == ()
