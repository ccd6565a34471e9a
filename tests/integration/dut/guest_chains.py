"""Chains with guests in labs: what their tests need, and what each switch's guests are held to."""

import os
import signal
import time
from typing import Any

import pytest

from plimsoll.dut.guest.guest import GuestHangs
from plimsoll.dut.lab import Lab, LabDied
from plimsoll.dut.sight import SeesTrials
from plimsoll.errors import PlimsollError
from plimsoll.host.ledger.ledger import Ledger
from tests.integration.dut.namespace_lab import PATIENCE_S, leftovers, make_lab, settings_of


def skip_without(kind: str, settings: dict[str, Any]) -> None:
    try:
        settings_of(kind, **settings).check_machine()
    except PlimsollError as error:
        pytest.skip(str(error))


def programs_of(ledger: Ledger) -> dict[str, int]:
    return {each.name: each.identity.pid for each in ledger.record.processes}


def killed_is_reported(ledger: Ledger, kind: str, settings: dict[str, Any], victim: str) -> None:
    """A lab whose process `victim` is killed says which one it was, and leaves nothing."""
    skip_without(kind, settings)
    lab = make_lab(ledger, kind, **settings)
    lab.up()
    assert victim in [each.name for each in lab.processes()]
    os.kill(programs_of(ledger)[victim], signal.SIGKILL)
    with pytest.raises(LabDied) as died:
        _until_it_is_seen(lab)
    assert died.value.process.startswith(victim)
    lab.down()
    assert leftovers(ledger) == set()
    assert not list(ledger.directory.glob("guest*.s*"))


def hung_is_not_dead(ledger: Ledger, kind: str, settings: dict[str, Any]) -> None:
    """A guest that is stopped is said to hang, and its lab is not said to have died."""
    skip_without(kind, settings)
    lab = make_lab(ledger, kind, **settings)
    lab.up()
    guest = programs_of(ledger)["guest0"]
    os.kill(guest, signal.SIGSTOP)
    assert isinstance(lab, SeesTrials)
    with pytest.raises(GuestHangs, match="guest0 runs, and does not answer"):
        lab.begin_sight()
    lab.check()
    os.kill(guest, signal.SIGCONT)
    lab.down()
    assert leftovers(ledger) == set()


def _until_it_is_seen(lab: Lab) -> None:
    """A killed process may take a moment to be gone."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        lab.check()
        time.sleep(0.05)
