"""The audit of captures of virtual machines that were booted tuned, untuned and badly tuned."""

import pytest

from plimsoll.tune.audit.audit import all_checks, audit
from plimsoll.tune.host.capture.open_capture import open_root
from tests.unit.tune.captures.systems import SYSTEMS
from tests.unit.tune.captures.tuned_system import TunedSystem
from tests.unit.tune.captures.verdict_table import TABLE

each_system = pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)


@each_system
def test_a_captured_guest_is_judged_as_worked_out(system: TunedSystem) -> None:
    """Where a check reads more than it did: `make vm-captures` makes them anew."""
    assert system.disagreements(audit(open_root(system.capture), system.declared())) == []


def test_on_a_tuned_kernel_nothing_fails() -> None:
    tuned = next(system for system in SYSTEMS if system.name == "tuned")
    assert audit(open_root(tuned.capture), tuned.declared()).counts["fail"] == 0


@each_system
def test_a_capture_is_small(system: TunedSystem) -> None:
    assert system.capture.stat().st_size < 200_000


def test_each_check_that_a_guest_can_pass_has_been_seen_ok() -> None:
    """On a kernel that was booted, not on files made for the test."""
    seen = {n for system in SYSTEMS for n, verdict in system.verdicts.items() if verdict == "ok"}
    # test_every_verdict.py holds each row of the table to what its capture gives.
    booted = {system.name for system in SYSTEMS}
    seen |= {row.number for row in TABLE if row.ok[0] in booted}
    # QEMU has no frequencies, turbo, SMIs, firmware or channels to tell of (12, 15, 16, 18, 19),
    # a TSC that keeps the time but no promise (21), a boot in its counters (34), a link that is
    # the hypervisor's (36, 37); the guest has no ethtool, kubelet or measurement (38, 46, 47).
    # For those there are the composed hosts of test_every_verdict.py.
    no_guest_can = {12, 15, 16, 18, 19, 21, 34, 36, 37, 38, 46, 47}
    assert {check.number for check in all_checks()} - seen == no_guest_can
