"""Tests whose loops poll CPUs take turns with those of other workers, and of other sessions.

Two runs at once on the same CPUs are refused, as a user's are, and loops that share a CPU spoil
each other's trials.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll.host.ledger.shared_directory import ledger_uses
from plimsoll.host.processes.child import wait_until
from tests.tried_again import SpoiltByMachine

# An abstract Unix socket: it ends with the process that has it, whatever ends that.
_NAME = "\0plimsoll-tests-that-poll"
# Of modules whose loops poll for as long as their client takes: two of them at once, and each
# would wait for the CPU time that the other's loops have.
_LIVE = "\0plimsoll-tests-of-live-traffic"
# Of a module of another session that takes its time.
_LONGEST_TURN_S = 3600.0
# Of a run that is no test's; what begins then is refused by its name.
_LONGEST_RUN_S = 300.0
_LOOK_EVERY_S = 0.05
# As plimsoll/host/ledger/cpu_claims.py says it.
_TAKEN = " is polled by "


@contextmanager
def turn(*, live: bool = False) -> Iterator[None]:
    """While it lasts, no other process of tests has one; of live traffic they have their own."""
    with socket.socket(socket.AF_UNIX) as holder:
        name = _LIVE if live else _NAME
        assert wait_until(lambda: _takes(holder, name), _LONGEST_TURN_S, every_s=_LOOK_EVERY_S), (
            f"other tests polled CPUs for {_LONGEST_TURN_S:g} s"
        )
        yield


def wait_for_cpus() -> None:
    """Until no run and no lab of the machine's polls one, or for long enough."""
    if not wait_until(lambda: not _polling(), _LONGEST_RUN_S, every_s=_LOOK_EVERY_S):
        print(f"CPUs are still polled by {', '.join(_polling())}")


def refuse_taken(said: str) -> None:
    """Raise SpoiltByMachine where a run of somebody else's polls the CPUs, once that has ended."""
    if _TAKEN in said:
        wait_for_cpus()
        raise SpoiltByMachine(said)


def _takes(holder: socket.socket, name: str) -> bool:
    try:
        holder.bind(name)
    except OSError:
        return False
    return True


def _polling() -> list[str]:
    """Ledgers of living runs and labs that poll CPUs."""
    return [use.ledger_id for use in ledger_uses() if use.polled_cpus and use.alive]
