"""The ledger of a run's test bed, where the test bed is made of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll.dut.lab import LabModel
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import Ledger


@contextmanager
def bed_ledger(kind: str, lab: LabModel) -> Iterator[Ledger | None]:
    """A watched ledger for as long as the block lasts; None for a simulated lab.

    That one changes nothing on the machine, so there is nothing to undo.
    """
    if lab.simulated:
        yield None
        return
    with swept_ledger(kind) as ledger:
        yield ledger
