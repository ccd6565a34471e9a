"""Hugepages for tests that run at the same time, so that none of them changes the pool's size."""

from __future__ import annotations

import contextlib

import psutil

from plimsoll.host.ledger.hugepage_claims import pools


class HugepageReserve:
    """Adds pages to the pool, at most a third of the available memory; none where that is refused.

    Without them the labs run on ordinary pages.
    """

    def __init__(self, megabytes: int) -> None:
        self._pool = next(iter(pools()), None)
        self._added = 0
        if self._pool is None:
            return
        kilobytes = min(megabytes * 1024, psutil.virtual_memory().available // 3 // 1024)
        before = self._pool.total
        with contextlib.suppress(OSError):
            self._added = self._pool.resize(before + kilobytes // self._pool.page_kb) - before

    def give_back(self) -> None:
        """Take the added pages out of the pool again."""
        if self._pool is not None and self._added:
            self._pool.resize(self._pool.total - self._added)
