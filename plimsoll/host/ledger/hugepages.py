"""Which memory a run gets: hugepages if there are or can be enough, else ordinary pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from plimsoll.errors import MachineError, PlimsollError
from plimsoll.host.cpus import allowed_cpus, format_cpu_list
from plimsoll.host.ledger.hugepage_claims import (
    SYSFS_HUGEPAGES,
    HugepageClaim,
    HugepagePool,
    LedgerClaims,
    all_claims,
    claims_locked,
    claims_of,
    note_claims,
    pools,
)
from plimsoll.host.ledger.ledger import LEDGER_MARK, Ledger
from plimsoll.host.ledger.shared_directory import LedgerUse, ledger_uses
from plimsoll.host.processes.identity import HugepageHolder, hugepage_holders

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
# A process that ends has left /proc before the kernel has freed all its pages.
_FREEING_S = 2.0
_FREEING_STEP_S = 0.05
# What identifies a ledger among those of all users: the user's id and the ledger's.
_Uses = Mapping[tuple[int, str], LedgerUse]


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


# How many hugepages are really free: not mapped, and not promised to a run that will map them.
def unclaimed(pool: HugepagePool) -> int:
    """Free pages less those that some ledger was promised and has not mapped yet.

    Processes map pages and end between two reads. Both figures are therefore read twice, by turns,
    and the worse ones taken: a page is never counted as free that was free only in between.
    """
    readings = [(pool.free, _promised(pool)) for _ in range(2)]
    return max(0, min(free for free, _ in readings) - max(promised for _, promised in readings))


def pages_taken(ledger: Ledger, pool: HugepagePool) -> str | None:
    """Who has taken pages that `ledger` was promised, in words; None where all are there.

    For when its process could not start: only a program that knows nothing of claims, or an
    administrator, takes them.
    """
    claimed = sum(each.pages for each in claims_of(ledger.id) if each.pool == str(pool.directory))
    missing, others = _missing(claimed, ledger, pool)
    latest = time.monotonic() + _FREEING_S
    while missing > 0 and time.monotonic() < latest:
        time.sleep(_FREEING_STEP_S)
        missing, others = _missing(claimed, ledger, pool)
    if missing <= 0:
        return None
    said = (
        f"{missing} of the {claimed} hugepages of {pool.page_kb} kB that were reserved for this "
        "run have been taken since"
    )
    if not others:
        return f"{said}: the pool was made smaller"
    names = (f"{each.comm} (pid {each.pid}, {each.mapped_kb // 1024} MB)" for each in others[:3])
    return f"{said}; hugepages are held by {', '.join(names)}"


def _missing(claimed: int, ledger: Ledger, pool: HugepagePool) -> tuple[int, list[HugepageHolder]]:
    """How many claimed pages are neither mapped by `ledger` nor free; who else holds pages."""
    holders = hugepage_holders(LEDGER_MARK)
    own = [each for each in holders if each.setting == str(ledger.directory)]
    others = sorted((each for each in holders if each not in own), key=lambda each: -each.mapped_kb)
    mapped = sum(each.mapped_kb for each in own) // pool.page_kb
    return claimed - mapped - pool.free, others


def _promised(pool: HugepagePool) -> int:
    claims = [each for each in all_claims() if _claimed_of(each, pool)]
    if not claims:
        # Spares the look at every process of the machine.
        return 0
    uses = {(use.uid, use.ledger_id): use for use in ledger_uses()}
    holders = hugepage_holders(LEDGER_MARK)
    return sum(_unmapped(each, pool, uses, holders) for each in claims)


def _unmapped(
    claims: LedgerClaims,
    pool: HugepagePool,
    uses: _Uses,
    holders: tuple[HugepageHolder, ...],
) -> int:
    """Pages promised to one ledger that none of its processes has mapped."""
    use = uses.get((claims.uid, claims.ledger_id))
    # What a dead run added is still to be given back, so it is not there for others.
    if not (use is not None and use.alive) and not (claims.by_us and claims.added):
        return 0
    mapped_kb = sum(each.mapped_kb for each in holders if use is not None and _is_of(each, use))
    return max(0, _claimed_of(claims, pool) - mapped_kb // pool.page_kb)


def _is_of(holder: HugepageHolder, use: LedgerUse) -> bool:
    if holder.setting is not None:
        return holder.setting == str(use.directory)
    return any(noted.identity.pid == holder.pid for noted in use.processes)


def _claimed_of(claims: LedgerClaims, pool: HugepagePool) -> int:
    return sum(claim.pages for claim in claims.claims if claim.pool == str(pool.directory))


def eal_arguments(
    name: str,
    loop_cpus: Sequence[int],
    memory: MemoryPlan,
    megabytes: int,
    main_cpus: Collection[int] = (),
) -> tuple[str, ...]:
    """Of a program with a polling loop on each of `loop_cpus`, and `megabytes` of packet memory.

    Its main thread only sleeps: it is on `main_cpus`, or floats over all CPUs of this process.
    Neither kind of memory leaves files behind, nor needs hugetlbfs to be mounted.
    """
    main = f"0@({format_cpu_list(main_cpus or allowed_cpus())})"
    loops = (f"{lcore}@{cpu}" for lcore, cpu in enumerate(loop_cpus, start=1))
    return ("--lcores", ",".join([main, *loops]), *memory_arguments(name, memory, megabytes))


def memory_arguments(name: str, memory: MemoryPlan, megabytes: int) -> tuple[str, ...]:
    """Those of `eal_arguments` that are not of CPUs."""
    ordinary = ("--no-huge", "-m", str(megabytes), "--no-shconf")
    return ("--file-prefix", name, *(("--in-memory",) if memory.huge else ordinary))


def device_arguments(devargs: Sequence[str]) -> tuple[str, ...]:
    """Vdevs are made; what is not one is on a bus, and nothing else there is opened."""
    vdevs = [each for each in devargs if each.startswith("net_")]
    others = [each for each in devargs if each not in vdevs]
    words = [word for each in vdevs for word in ("--vdev", each)]
    allowed = [word for each in others for word in ("-a", each)]
    return (*words, *(allowed or ["--no-pci"]))
