"""What each ledger has claimed of the machine's hugepages, for every user's Plimsoll to see.

A ledger's claims are one file of the shared directory. They are read and written under one
lock only, `claims_locked`, and with them the sizes of the pools: so its holder knows
that a claim in the middle of a step was left so by an interrupted process, and that the pool
still has the size at which that one stopped.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from plimsoll.host.ledger.record import boot_id
from plimsoll.host.ledger.shared_directory import (
    SharedFile,
    locked,
    post,
    posted,
    posted_by_us,
    withdraw,
)

SYSFS_HUGEPAGES = Path("/sys/kernel/mm/hugepages")
# arm64 also has pools of 64 kB pages, too small to be worth the trouble.
_SMALLEST_PAGE_KB = 2048
_POOL_NAME = re.compile(r"hugepages-(\d+)kB")


@dataclass(frozen=True, slots=True)
class HugepagePool:
    """All pages of one size; `directory` is the pool's in sysfs."""

    directory: Path

    @property
    def page_kb(self) -> int:
        """The size of one page in kB."""
        match = _POOL_NAME.fullmatch(self.directory.name)
        return int(match[1]) if match else 0

    @property
    def total(self) -> int:
        """Pages that the pool is to hold; those beyond it vanish when their holders end."""
        return self._read("nr_hugepages") - self.surplus

    @property
    def surplus(self) -> int:
        """Pages beyond the pool's size, all of them held; a pool that grows takes them in first."""
        return self._read("surplus_hugepages")

    @property
    def free(self) -> int:
        """Pages neither mapped nor reserved by a mapping not yet touched."""
        return max(0, self._read("free_hugepages") - self._read("resv_hugepages"))

    def resize(self, pages: int) -> int:
        """Ask the kernel for a pool of `pages`; the size it found memory for. Raises OSError."""
        (self.directory / "nr_hugepages").write_text(f"{pages}\n")
        return self.total

    def _read(self, name: str) -> int:
        return int((self.directory / name).read_text())


@dataclass(frozen=True, slots=True)
class HugepageClaim:
    """What one run needs of a pool, and what it added to it.

    `step` and `total_before` are written down before the pool is resized, so that a
    process that cleans up after a kill can tell from the pool whether the resize
    still happened.
    """

    pool: str
    pages: int
    added: int
    total_before: int
    step: Literal["adding", "held", "returning"]

    def owed(self, total_now: int) -> int:
        """How many of the added pages are still in a pool of `total_now` pages."""
        grown = total_now - self.total_before
        if self.step == "adding":
            return min(max(grown, 0), self.added)
        if self.step == "returning":
            return min(max(self.added + grown, 0), self.added)
        return self.added


def pools(root: Path = SYSFS_HUGEPAGES) -> tuple[HugepagePool, ...]:
    """The pools of pages of 2 MB and more, smallest pages first; the kernel may have none."""
    found = [HugepagePool(path) for path in root.glob("hugepages-*kB")]
    useful = [pool for pool in found if pool.page_kb >= _SMALLEST_PAGE_KB]
    return tuple(sorted(useful, key=lambda pool: pool.page_kb))


_KIND = "hugepages"


@dataclass(frozen=True, slots=True)
class LedgerClaims:
    """The claims of one ledger; `uid` is the user's who owns it."""

    uid: int
    ledger_id: str
    claims: tuple[HugepageClaim, ...]

    @property
    def added(self) -> int:
        """Pages that it added to pools and that have not been given back."""
        return sum(claim.added for claim in self.claims)

    @property
    def by_us(self) -> bool:
        """Whether we wrote it, or root: no other user can have added pages."""
        return self.uid in (0, os.getuid())


@contextlib.contextmanager
def claims_locked(pools: Path) -> Iterator[None]:
    """Alone among all Plimsoll processes with the pools below `pools` and all claims on them.

    What interrupted processes of this user left half done is settled first. Raises
    MachineError when another keeps it locked.
    """
    with locked(pools):
        _settle(pools)
        yield


def claims_of(ledger_id: str) -> tuple[HugepageClaim, ...]:
    """Those of one of this user's ledgers."""
    text = posted_by_us(ledger_id, _KIND)
    found = _parse(SharedFile(os.getuid(), ledger_id, _KIND, text)) if text is not None else None
    return found.claims if found else ()


def all_claims() -> tuple[LedgerClaims, ...]:
    """Those of every user's ledgers and of this boot."""
    found = (_parse(file) for file in posted(_KIND))
    return tuple(each for each in found if each is not None)


def note_claims(ledger_id: str, claims: tuple[HugepageClaim, ...]) -> None:
    """Replace a ledger's claims; under the lock alone. Raises MachineError."""
    if claims:
        fields = {"boot_id": boot_id(), "claims": [asdict(each) for each in claims]}
        post(ledger_id, _KIND, json.dumps(fields))
    else:
        withdraw(ledger_id, _KIND)


def give_back(ledger_id: str) -> dict[str, int]:
    """Shrink the pools by what a ledger of this user added, and forget its claims.

    Only once the processes that held the pages are gone. Returns pages by the pool's name.
    Raises OSError when a pool cannot be resized; its claim then stays.
    """
    done: dict[str, int] = {}
    for pools in sorted({Path(claim.pool).parent for claim in claims_of(ledger_id)}):
        with claims_locked(pools):
            while claim := next(iter(_below(pools, claims_of(ledger_id))), None):
                pages = _return(ledger_id, claim)
                name = Path(claim.pool).name
                done[name] = done.get(name, 0) + pages
    return {name: pages for name, pages in done.items() if pages}


def _return(ledger_id: str, claim: HugepageClaim) -> int:
    """Give the pages of one claim back and strike it out; how many they were."""
    pool = HugepagePool(Path(claim.pool))
    total = pool.total
    owed = min(claim.added, total)
    others = list(claims_of(ledger_id))
    others.remove(claim)
    if owed:
        returning = replace(claim, added=owed, total_before=total, step="returning")
        note_claims(ledger_id, (returning, *others))
        pool.resize(total - owed)
    note_claims(ledger_id, tuple(others))
    return owed


def _settle(pools: Path) -> None:
    """Tell from the pools how far interrupted steps of this user's ledgers came, and note it."""
    for each in all_claims():
        settled = tuple(_settled(claim, pools) for claim in each.claims)
        if each.uid == os.getuid() and settled != each.claims:
            note_claims(each.ledger_id, settled)


def _settled(claim: HugepageClaim, pools: Path) -> HugepageClaim:
    if claim.step == "held" or Path(claim.pool).parent != pools:
        return claim
    total = HugepagePool(Path(claim.pool)).total
    return replace(claim, added=claim.owed(total), total_before=total, step="held")


def _below(pools: Path, claims: tuple[HugepageClaim, ...]) -> tuple[HugepageClaim, ...]:
    return tuple(claim for claim in claims if Path(claim.pool).parent == pools)


def _parse(file: SharedFile) -> LedgerClaims | None:
    """None for what is of another boot, or not as `note_claims` writes it."""
    try:
        fields = json.loads(file.text)
        if fields["boot_id"] != boot_id():
            return None
        claims = tuple(_checked(HugepageClaim(**claim)) for claim in fields["claims"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return LedgerClaims(file.uid, file.ledger_id, claims)


def _checked(claim: HugepageClaim) -> HugepageClaim:
    """Raises ValueError for what no claim can be."""
    counts = (claim.pages, claim.added, claim.total_before)
    if any(type(count) is not int or count < 0 for count in counts):
        raise ValueError("not a number of pages")
    if not isinstance(claim.pool, str) or claim.step not in ("adding", "held", "returning"):
        raise ValueError("not a claim")
    return claim
