"""The engine in a guest with network cards, spoken to from out here."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.integration.engine.requests import Request
from tests.integration.engine.session import EngineSession
from tests.integration.vm.nic_guest import NicGuest


@contextmanager
def starting_engine(guest: NicGuest) -> Iterator[EngineSession]:
    """An engine in the guest, its ports not open."""
    within = (sys.executable, "-m", "tests.integration.vm.in_guest", str(guest.folder))
    with EngineSession(guest.folder, within=within, hangs_after_s=300.0) as engine:
        yield engine


def open_request(*ports: Request, workers: Sequence[Request]) -> Request:
    """On hugepages, as cards need them."""
    return {
        "id": 1,
        "request": "open",
        "memory": {"huge": True, "megabytes": 64 + 100 * len(ports)},
        "main_cpus": [0],
        "workers": list(workers),
        "ports": list(ports),
        "link_wait_s": 60,
    }
