"""The audit of kernels that were really booted as tuned, untuned or badly tuned.

QEMU emulates them, so that no virtualisation by hardware is needed: a boot takes ten to
forty seconds. Skipped where QEMU or the kernel is missing; `make vm-kernel` fetches both.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.tune.audit.audit import audit
from plimsoll.tune.host.capture.capture import Capture, write_capture
from plimsoll.tune.host.capture.open_capture import open_root
from tests.integration.vm.guest import CannotBoot, GuestParts, boot, find_parts
from tests.unit.tune.captures.systems import SYSTEMS
from tests.unit.tune.captures.tuned_system import TunedSystem

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def parts() -> GuestParts:
    try:
        return find_parts()
    except CannotBoot as missing:
        pytest.skip(str(missing))


def booted(parts: GuestParts, system: TunedSystem, folder: Path) -> Capture:
    """Skipped where a module of the system's is missing."""
    try:
        return boot(parts, system, folder)
    except CannotBoot as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_booted_guest_is_judged_as_worked_out(
    system: TunedSystem, parts: GuestParts, tmp_path: Path
) -> None:
    capture = tmp_path / "guest.tar.gz"
    write_capture(booted(parts, system, tmp_path), capture)
    done = audit(open_root(capture), system.declared())
    assert system.disagreements(done) == []

    intent = tmp_path / "intent.yaml"
    intent.write_text(system.intent)
    requested = ["tune", "audit", "--root", str(capture), "--intent", str(intent), "--json"]
    result = CliRunner().invoke(app, requested)
    assert result.exit_code == (1 if done.counts["fail"] else 0)
    assert json.loads(result.stdout)["counts"] == done.counts


def test_what_fix_prints_mends_a_guest(parts: GuestParts, tmp_path: Path) -> None:
    """Booted with the right arguments and no settings; then again with the steps of the audit."""
    tuned = next(system for system in SYSTEMS if system.name == "tuned")
    bare = replace(tuned, tune="")
    before = audit(boot(parts, bare, tmp_path).view("before"), tuned.declared())
    amiss = {finding.number for finding in before.findings if finding.verdict == "fail"}
    # The three sysctls, and the interrupts that the card's driver spread over all CPUs.
    assert amiss == {25, 26}
    assert {f.number: f.verdict for f in before.findings}[33] == "warn"

    steps = [step.text for f in before.findings for step in f.steps if step.kind == "command"]
    fixed = replace(tuned, tune="\n".join(steps))
    after = audit(boot(parts, fixed, tmp_path).view("after"), tuned.declared())
    assert tuned.disagreements(after) == []
