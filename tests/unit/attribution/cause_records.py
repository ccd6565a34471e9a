"""Causes as a record has them, of which a test says only what it is about."""

from typing import Any

from plimsoll.record.causes.causes_record import Cause, RankedCause


def a_cause(**said: Any) -> Cause:
    """A task on the DUT's CPU 1."""
    unsaid: dict[str, Any] = {
        "kind": "task",
        "name": "java",
        "owner": "dut",
        "cpu": 1,
        "pid": None,
        "cgroup": None,
        "woken_by": None,
        "begin_tsc": 0,
        "length_ns": None,
        "confidence": "exact",
    }
    return Cause(**{**unsaid, **said})


def a_ranked_cause(**said: Any) -> RankedCause:
    """A task that was once on the DUT's CPU 1, in one incident."""
    unsaid: dict[str, Any] = {
        "kind": "task",
        "name": "java",
        "owner": "dut",
        "cpu": 1,
        "own": False,
        "occurrences": 1,
        "incidents": 1,
        "loss_share": None,
        "spike_share": None,
        "total_ns": None,
        "worst_ns": None,
        "confidence": "exact",
        "remedy": None,
    }
    return RankedCause(**{**unsaid, **said})
