"""What was under test on an observed host."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.record.run.observed_host import ObservedHostRecord
from plimsoll.trial.outcome.host_question import CpuRole, polled_cpus

_OWNERS: Mapping[CpuRole, str] = {"tester": "tester", "dut": "DUT"}


def role_of(host: ObservedHostRecord) -> str:
    """Whose polling loops ran on it: "tester", "DUT", "tester and DUT"; "" where none did."""
    return _joined(host, frozenset().union(*(polled_cpus(host, role) for role in _OWNERS)))


def owner_of(host: ObservedHostRecord, cpu: int) -> str:
    """The same, of one of its CPUs."""
    return _joined(host, frozenset({cpu}))


def _joined(host: ObservedHostRecord, cpus: frozenset[int]) -> str:
    return " and ".join(name for role, name in _OWNERS.items() if cpus & polled_cpus(host, role))
