"""CPUs are the machine's: no two polling loops of Plimsoll's, of whatever user, share one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from plimsoll.errors import MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.record import PolledCpu
from plimsoll.host.ledger.shared_directory import LedgerUse, ledger_uses, locked, shared_directory


class CpuTaken(MachineError):
    """Another lab or run polls a CPU, and will not do so for ever."""


class CpuClaim(NamedTuple):
    """A CPU, the process whose loop will poll it, and the place that assigns it ("lab.cpu")."""

    place: str
    cpu: int
    process: str


def refuse_polled_cpus(claimed: Iterable[tuple[str, int]], own: Ledger | None = None) -> None:
    """Refuse a CPU that another lab or run of this machine polls; each is (place, CPU).

    Raises CpuTaken naming both.
    """
    for refusal in polled_cpu_mistakes(claimed, own):
        raise refusal


def polled_cpu_mistakes(
    claimed: Iterable[tuple[str, int]], own: Ledger | None = None
) -> Iterator[CpuTaken]:
    """All that `refuse_polled_cpus` would refuse, in the order given."""
    polled = {each.cpu: (use, each) for use, each in _polled_by_others(own)}
    for place, cpu in claimed:
        if cpu in polled:
            yield _refusal(place, *polled[cpu])


def cpus_polled_by_others(own: Ledger) -> frozenset[int]:
    """The CPUs of this machine that other runs, and labs that stand, poll just now."""
    return frozenset(each.cpu for _, each in _polled_by_others(own))


def claim_cpus(ledger: Ledger, claims: Sequence[CpuClaim]) -> None:
    """Note in `ledger` that its processes will poll these CPUs, unless others do.

    Of two that claim a CPU at once one gets it. Raises CpuTaken.
    """
    with locked(shared_directory()):
        refuse_polled_cpus(((claim.place, claim.cpu) for claim in claims), ledger)
        ledger.note_polled_cpus(tuple(PolledCpu(claim.cpu, claim.process) for claim in claims))


def _polled_by_others(own: Ledger | None) -> Iterator[tuple[LedgerUse, PolledCpu]]:
    """What all ledgers but `own` poll just now."""
    for use in ledger_uses():
        if own is None or use.directory != own.directory:
            yield from ((use, each) for each in use.polled_cpus if _is_polled(use, each))


def _is_polled(use: LedgerUse, polled: PolledCpu) -> bool:
    """By a run from its claim to its end; by a lab that stands as long as its process runs."""
    if use.owner is not None:
        return use.owner.alive
    return use.process_named(polled.process) is not None


def _refusal(place: str, use: LedgerUse, polled: PolledCpu) -> CpuTaken:
    process = use.process_named(polled.process)
    pid = f" {process.pid}" if process else ", which is starting"
    return CpuTaken(
        f"CPU {polled.cpu} is polled by {use.ledger_id} ({polled.process}{pid})",
        where=place,
        remedy=f"{_ending(use)}, or choose another CPU",
    )


def _ending(use: LedgerUse) -> str:
    if use.owner is not None:
        return f"wait until that run ends (process {use.owner.pid})"
    take_down = f"plimsoll lab down {use.ledger_id}"
    return take_down if use.uid == os.getuid() else f"as user {use.uid}: {take_down}"
