"""The kernel's pools of hugepages, and what a run has claimed of one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

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
