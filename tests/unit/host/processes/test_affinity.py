"""On which CPUs Plimsoll's own processes run."""

import os
import threading
from collections.abc import Collection

import pytest

from plimsoll.host.processes.affinity import housekeeping_cpus, pinned_to


@pytest.mark.parametrize(
    ("allowed", "busy", "shared", "expected"),
    [
        ({0, 1, 2, 3}, {1, 2, 3}, {1}, {0}),
        ({1, 2, 3}, {1, 2, 3}, {1, 2}, {1, 2}),
        ({1, 2, 3}, {1, 2, 3}, {1, 9}, {1}),
        ({1, 2, 3}, {1, 2, 3}, {}, {1, 2, 3}),
        ({3}, {1, 2, 3}, {1, 2}, {3}),
    ],
    ids=["one is free", "none is", "one may not be used", "none is shared", "only the DUT's"],
)
def test_they_leave_the_busy_cpus_and_else_keep_to_the_shared_ones(
    monkeypatch: pytest.MonkeyPatch,
    allowed: Collection[int],
    busy: Collection[int],
    shared: Collection[int],
    expected: Collection[int],
) -> None:
    monkeypatch.setattr("plimsoll.host.processes.affinity.allowed_cpus", lambda: frozenset(allowed))
    assert housekeeping_cpus(busy, shared) == expected


def test_a_process_goes_back_to_where_it_may_run() -> None:
    before = os.sched_getaffinity(0)
    one = {min(before)}
    with pinned_to(one):
        assert os.sched_getaffinity(0) == one
    assert os.sched_getaffinity(0) == before


def test_threads_that_were_there_before_are_moved_too_and_go_back() -> None:
    before = os.sched_getaffinity(0)
    one = {min(before)}
    ready, over = threading.Event(), threading.Event()
    seen: list[int] = []

    def wait() -> None:
        seen.append(threading.get_native_id())
        ready.set()
        over.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    ready.wait()
    try:
        with pinned_to(one):
            assert os.sched_getaffinity(seen[0]) == one
        assert os.sched_getaffinity(seen[0]) == before
    finally:
        over.set()
        thread.join()
