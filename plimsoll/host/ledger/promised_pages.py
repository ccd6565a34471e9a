"""How many hugepages are really free: not mapped, and not promised to a run that will map them."""

from __future__ import annotations

import time
from collections.abc import Mapping

from plimsoll.host.ledger.hugepage_claims import LedgerClaims, all_claims, claims_of
from plimsoll.host.ledger.hugepage_pool import HugepagePool
from plimsoll.host.ledger.ledger import LEDGER_MARK, Ledger
from plimsoll.host.ledger.ledger_use import LedgerUse, ledger_uses
from plimsoll.host.processes.identity import HugepageHolder, hugepage_holders

# A process that ends has left /proc before the kernel has freed all its pages.
_FREEING_S = 2.0
_FREEING_STEP_S = 0.05

# What identifies a ledger among those of all users: the user's id and the ledger's.
_Uses = Mapping[tuple[int, str], LedgerUse]


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
    claims = [each for each in all_claims() if _pages(each, pool)]
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
    return max(0, _pages(claims, pool) - mapped_kb // pool.page_kb)


def _is_of(holder: HugepageHolder, use: LedgerUse) -> bool:
    if holder.setting is not None:
        return holder.setting == str(use.directory)
    return any(noted.identity.pid == holder.pid for noted in use.processes)


def _pages(claims: LedgerClaims, pool: HugepagePool) -> int:
    return sum(claim.pages for claim in claims.claims if claim.pool == str(pool.directory))
