"""Plimsoll's own processes on this host, as far as they may run on certain CPUs."""

from __future__ import annotations

import os
from collections.abc import Collection

from plimsoll.host.ledger.janitor import JANITOR
from plimsoll.host.ledger.ledger import Ledger

COMMAND = "plimsoll"
OBSERVER = "observer"


def own_processes(ledger: Ledger) -> dict[int, str]:
    """Names by pid: this process, its janitor and its observer."""
    noted = ledger.record.processes
    helpers = {each.identity.pid: each.name for each in noted if each.name in (JANITOR, OBSERVER)}
    return {os.getpid(): COMMAND, **helpers}


def own_processes_on(cpus: Collection[int], ledger: Ledger) -> dict[int, str]:
    """Those of them that may run on one of the CPUs."""
    return {pid: name for pid, name in own_processes(ledger).items() if _may_run(pid, cpus)}


def _may_run(pid: int, cpus: Collection[int]) -> bool:
    try:
        return not os.sched_getaffinity(pid).isdisjoint(cpus)
    except ProcessLookupError:
        return False
