"""Waits for a run's process to end and undoes what it left behind.

`python -m plimsoll.host.ledger.janitor DIRECTORY` sleeps in the kernel until the ledger's owner
has ended, however that comes, so it costs a measurement nothing. An owner that undoes
its ledger itself ends its janitor with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.host.entry.entry_point import enter
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import WORKING_DIRECTORY, module_argv, module_environment
from plimsoll.host.processes.identity import identify, wait_for_end

# As the ledger notes it.
JANITOR = "janitor"


def start_janitor(ledger: Ledger) -> subprocess.Popen[bytes]:
    """Start the janitor of a ledger that this process owns, and note it there."""
    janitor = subprocess.Popen(  # noqa: S603 - an argument vector, no shell
        module_argv("plimsoll.host.ledger.janitor", str(ledger.directory)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=module_environment(os.environ),
        cwd=WORKING_DIRECTORY,
        start_new_session=True,
    )
    ledger.note_process(JANITOR, identify(janitor.pid))
    return janitor


@contextmanager
def swept_ledger(kind: str) -> Iterator[Ledger]:
    """A ledger with a janitor, undone when the block ends, whether by us or after a kill."""
    ledger = Ledger.create(kind)
    try:
        janitor = start_janitor(ledger)
    except BaseException:
        ledger.undo()
        raise
    try:
        yield ledger
    finally:
        ledger.undo()
        # It is still there where the ledger was deleted, and would wait for us as we for it.
        janitor.kill()
        janitor.wait()


def watch(ledger: Ledger) -> list[str]:
    """Sleep until the owner has ended; undo the ledger unless it was handed over or is gone."""
    owner = ledger.record.owner
    if owner is None:
        return []
    wait_for_end(owner)
    # One that was deleted has pages to be given back all the same.
    if ledger.directory.exists() and not ledger.record.abandoned:
        return []
    return ledger.undo()


def main() -> None:
    """Watch the ledger that the one argument names."""
    watch(Ledger(Path(sys.argv[1])))


if __name__ == "__main__":
    enter(main)
