"""Which memory a run gets: hugepages if there are or can be enough, else ordinary pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from plimsoll.errors import MachineError, PlimsollError
from plimsoll.host.ledger.hugepage_claims import claims_locked, claims_of, note_claims
from plimsoll.host.ledger.hugepage_pool import (
    SYSFS_HUGEPAGES,
    HugepageClaim,
    HugepagePool,
    pools,
)
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.promised_pages import pages_taken, unclaimed

_NO_HUGE_COST = (
    "running on ordinary 4 kB pages: every frame costs more TLB misses, so expect a lower and "
    "less steady load line, not to be compared with one on hugepages; physical NICs may not work"
)
_AS_ROOT = (
    "reserve some on this host as root (sysctl vm.nr_hugepages={pages}), or run as root, "
    "outside a container"
)
_FREE_MEMORY = (
    "end what uses much memory, or reserve {pages} pages when the machine boots, before its "
    "memory is in pieces (kernel argument hugepages={pages})"
)
_NO_SUPPORT = "boot a kernel with CONFIG_HUGETLBFS, or run without require_hugepages"


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why there are too few hugepages, and what would help; `{pages}` is how many are needed."""

    why: str
    remedy: str


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

    Pages that other runs of this machine, of any user, have claimed but not mapped yet count
    as taken. Falls back to ordinary pages, or with `require_huge` raises MachineError saying
    why there are none. Raises MachineError too where claims cannot be made known.
    """
    refusal = _Refusal("this kernel has no hugepages", _NO_SUPPORT)
    if available := pools(root):
        with claims_locked(root):
            for pool in available:
                if _claim_free(pool, megabytes, ledger):
                    return MemoryPlan(huge=True, megabytes=megabytes)
            grown = _grow(available[0], megabytes, ledger)
        if isinstance(grown, MemoryPlan):
            return grown
        refusal = grown
    if require_huge:
        pages = -(-megabytes // 2)
        raise MachineError(refusal.why, where=str(root), remedy=refusal.remedy.format(pages=pages))
    return MemoryPlan(huge=False, megabytes=megabytes, note=f"{refusal.why}; {_NO_HUGE_COST}")


@contextmanager
def hugepages_explained(
    memory: MemoryPlan, ledger: Ledger, root: Path = SYSFS_HUGEPAGES
) -> Iterator[None]:
    """Give a failure in the block its cause where that is pages taken from the run.

    DPDK says "Cannot get hugepage information" and "Permission denied" then, or that it
    cannot allocate memory. Raises MachineError.
    """
    try:
        yield
    except PlimsollError as error:
        for pool in pools(root) if memory.huge else ():
            if said := pages_taken(ledger, pool):
                raise MachineError(
                    f"{said}. DPDK: {error.message}",
                    where=str(pool.directory),
                    remedy="end what holds them, or reserve more as root (sysctl "
                    "vm.nr_hugepages); then start or resume the run",
                ) from error
        raise


def _claim_free(pool: HugepagePool, megabytes: int, ledger: Ledger) -> bool:
    """Claim pages that the pool has already, if they suffice."""
    pages = _pages(pool, megabytes)
    if unclaimed(pool) < pages:
        return False
    _append(ledger, HugepageClaim(str(pool.directory), pages, 0, pool.total, "held"))
    return True


def _grow(pool: HugepagePool, megabytes: int, ledger: Ledger) -> MemoryPlan | _Refusal:
    """Add the missing pages and claim them; or why that was not possible."""
    pages = _pages(pool, megabytes)
    total = pool.total
    # A pool first grows by the surplus pages that others hold: those are not new pages.
    missing = pages - min(pages, unclaimed(pool)) + pool.surplus
    claim = HugepageClaim(str(pool.directory), pages, missing, total, "adding")
    update = _append(ledger, claim)
    try:
        added = max(0, pool.resize(total + missing) - total)
    except OSError as error:
        update(None)
        return _Refusal(
            f"too few free hugepages ({missing} of {pool.page_kb} kB missing) and no "
            f"permission to reserve them: {error.strerror}",
            _AS_ROOT,
        )
    if added < missing:
        _shrink(pool, total, replace(claim, added=added), update)
        return _Refusal(
            f"too few free hugepages: the kernel found memory for only {added} of the "
            f"{missing} missing pages of {pool.page_kb} kB",
            _FREE_MEMORY,
        )
    update(replace(claim, step="held"))
    reserved_kb = missing * pool.page_kb
    note = f"reserved {missing} hugepages of {pool.page_kb} kB, to be given back at the end"
    return MemoryPlan(huge=True, megabytes=megabytes, reserved_kb=reserved_kb, note=note)


def _shrink(
    pool: HugepagePool,
    total: int,
    claim: HugepageClaim,
    update: Callable[[HugepageClaim | None], None],
) -> None:
    update(replace(claim, total_before=total + claim.added, step="returning"))
    pool.resize(total)
    update(None)


def _append(ledger: Ledger, claim: HugepageClaim) -> Callable[[HugepageClaim | None], None]:
    """Note a further claim; the answer replaces it, or with None strikes it out."""
    earlier = claims_of(ledger.id)
    note_claims(ledger.id, (*earlier, claim))

    def update(changed: HugepageClaim | None) -> None:
        note_claims(ledger.id, (*earlier, changed) if changed else earlier)

    return update


def _pages(pool: HugepagePool, megabytes: int) -> int:
    return -(-megabytes * 1024 // pool.page_kb)
