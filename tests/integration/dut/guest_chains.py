"""Chains with guests in labs: what their tests need, and what each switch's guests are held to."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from plimsoll.dut.guest.guest import GuestHangs
from plimsoll.dut.lab import Lab, LabDied
from plimsoll.dut.sight import ObservesTrials
from plimsoll.errors import PlimsollError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.network_namespace import NetworkNamespace
from tests.integration.command import Workplace
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
    assert isinstance(lab, ObservesTrials)
    with pytest.raises(GuestHangs, match="guest0 runs, and does not answer"):
        lab.start_observation()
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


# Of tc(8) and ovs-vsctl(8): fewer frames a second than any virtual machine passes, and a queue
# that is empty long before a trial's drain is over.
_FILTER = ("root", "tbf", "rate", "800kbit", "burst", "10k", "limit", "20k")
_POLICER = ("type=egress-policer", "other-config:cir=100000", "other-config:cbs=4096")


@contextmanager
def slow_last_port(place: Workplace, kind: str) -> Iterator[None]:
    """Whatever lab comes up meanwhile has a port 1 that drops most of what it is to send."""
    over, slow, said = threading.Event(), threading.Event(), list[str]()

    def slow_down() -> None:
        while not over.wait(0.5):
            for directory in place.state.glob("*-*"):
                done = subprocess.run(
                    _slowing(kind, directory), capture_output=True, text=True, check=False
                )
                said.append(done.stderr)
                if done.returncode == 0:
                    slow.set()
                # Open vSwitch takes a filter away as it opens a port, and keeps its own policer.
                if slow.is_set() and kind == "ovs-dpdk":
                    return

    thread = threading.Thread(target=slow_down)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if any("qdisc kind is unknown" in each for each in said):
        pytest.skip("this kernel has no token bucket filter")
    assert slow.is_set(), said[-1:]


def _slowing(kind: str, directory: Path) -> Sequence[str]:
    if kind == "ovs-dpdk":
        # As it comes up, the switch has no port 1 for a while.
        database = f"--db=unix:{directory}/ovs/db.sock"
        policed = ("set", "port", "port1", "qos=@policer")
        made = ("--id=@policer", "create", "qos", *_POLICER)
        return ("ovs-vsctl", "--timeout=5", database, "--", *policed, "--", *made)
    space = NetworkNamespace.of(directory.name)
    return space.enter("tc", "qdisc", "replace", "dev", "port1", *_FILTER)
