"""Neighbours beside a trial, as a record has them."""

from typing import Any

from plimsoll.neighbours.neighbour import NeighbourRun


def neighbour(**changes: Any) -> NeighbourRun:
    """A timer on CPU 1 that did as it was meant to."""
    return NeighbourRun(
        **{
            "name": "stress-ng timer",
            "level": "10000 Hz a worker",
            "cpus": (1,),
            "cgroup": None,
            "workers": 1,
            "niceness": 0,
            "ran_s": 2.5,
            "unit": "bogo-ops/s",
            "intensity": 9876.5,
            "cpu_s": 0.25,
            "figures": {},
            "program": "stress-ng 0.15.06",
            "unknown": None,
            "ended_early": None,
            **changes,
        }
    )
