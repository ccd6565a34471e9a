"""Which memory a run gets: hugepages if there are or can be enough, else ordinary pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from plimsoll.errors import MachineError
from plimsoll.host.hugepage_pool import SYSFS_HUGEPAGES, HugepageClaim, HugepagePool, pools
from plimsoll.host.ledger import Ledger, readable_ledgers
from plimsoll.host.ledger_record import LedgerRecord
from plimsoll.host.processes import hugepages_mapped_kb

_NO_HUGE_COST = (
    "running on ordinary 4 kB pages: every frame costs more TLB misses, so expect a lower and "
    "less steady load line, not to be compared with one on hugepages; physical NICs may not work"
)
_REMEDY = "reserve some as root (sysctl vm.nr_hugepages={pages}), or run as root"


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The memory of one run's DPDK processes together.

    `reserved_kb` is what was added to the pool and is given back with the ledger;
    `note` says in words what the user should know, None when nothing was done.
    """

    huge: bool
    megabytes: int
    reserved_kb: int = 0
    note: str | None = None


def plan_memory(
    megabytes: int,
    ledger: Ledger,
    *,
    require_huge: bool = False,
    root: Path = SYSFS_HUGEPAGES,
) -> MemoryPlan:
    """Find `megabytes` of hugepages for the processes of `ledger`, adding what is missing.

    Pages that other runs have claimed but not mapped yet count as taken. Falls back to
    ordinary pages, or with `require_huge` raises MachineError saying why there are none.
    """
    available = pools(root)
    for pool in available:
        if _claim_free(pool, megabytes, ledger):
            return MemoryPlan(huge=True, megabytes=megabytes)
    refusal = "this kernel has no hugepages"
    if available:
        grown = _grow(available[0], megabytes, ledger)
        if isinstance(grown, MemoryPlan):
            return grown
        refusal = grown
    if require_huge:
        pages = -(-megabytes // 2)
        raise MachineError(refusal, where=str(root), remedy=_REMEDY.format(pages=pages))
    return MemoryPlan(huge=False, megabytes=megabytes, note=f"{refusal}; {_NO_HUGE_COST}")


def _claim_free(pool: HugepagePool, megabytes: int, ledger: Ledger) -> bool:
    """Claim pages that the pool has already, if they suffice."""
    pages = _pages(pool, megabytes)
    with pool.locked():
        if _unclaimed(pool) < pages:
            return False
        _append(ledger, HugepageClaim(str(pool.directory), pages, 0, pool.total, "held"))
        return True


def _grow(pool: HugepagePool, megabytes: int, ledger: Ledger) -> MemoryPlan | str:
    """Add the missing pages and claim them; or why that was not possible."""
    pages = _pages(pool, megabytes)
    with pool.locked():
        total = pool.total
        missing = pages - min(pages, _unclaimed(pool))
        claim = HugepageClaim(str(pool.directory), pages, missing, total, "adding")
        amend = _append(ledger, claim)
        try:
            added = max(0, pool.resize(total + missing) - total)
        except OSError as error:
            amend(None)
            return (
                f"too few free hugepages ({missing} of {pool.page_kb} kB missing) and no "
                f"permission to reserve them: {error.strerror}"
            )
        if added < missing:
            _shrink(pool, total, replace(claim, added=added), amend)
            return (
                f"too few free hugepages: the kernel found memory for only {added} of the "
                f"{missing} missing pages of {pool.page_kb} kB"
            )
        amend(replace(claim, step="held"))
    reserved_kb = missing * pool.page_kb
    note = f"reserved {missing} hugepages of {pool.page_kb} kB, to be given back at the end"
    return MemoryPlan(huge=True, megabytes=megabytes, reserved_kb=reserved_kb, note=note)


def _shrink(
    pool: HugepagePool,
    total: int,
    claim: HugepageClaim,
    amend: Callable[[HugepageClaim | None], None],
) -> None:
    amend(replace(claim, total_before=total + claim.added, step="returning"))
    pool.resize(total)
    amend(None)


def _append(ledger: Ledger, claim: HugepageClaim) -> Callable[[HugepageClaim | None], None]:
    """Note a further claim; the answer replaces it, or with None strikes it out."""
    earlier = ledger.record.hugepages
    ledger.note_hugepages((*earlier, claim))

    def amend(changed: HugepageClaim | None) -> None:
        ledger.note_hugepages((*earlier, changed) if changed else earlier)

    return amend


def _unclaimed(pool: HugepagePool) -> int:
    """Free pages less those that some run has been promised and not mapped yet."""
    promised = sum(_unmapped(ledger, record, pool) for ledger, record in readable_ledgers())
    return max(0, pool.free - promised)


def _unmapped(ledger: Ledger, record: LedgerRecord, pool: HugepagePool) -> int:
    claimed = sum(claim.pages for claim in record.hugepages if claim.pool == str(pool.directory))
    if not claimed:
        # Spares the look at every process of the machine.
        return 0
    mapped_kb = hugepages_mapped_kb(ledger.processes(record))
    return max(0, claimed - mapped_kb // pool.page_kb)


def _pages(pool: HugepagePool, megabytes: int) -> int:
    return -(-megabytes * 1024 // pool.page_kb)
