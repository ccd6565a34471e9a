"""Each kind of lab leaves the machine as it was, also after SIGKILL to all of ours."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from plimsoll.dut.registry.labs import lab_kinds, lab_of_kind
from plimsoll.errors import PlimsollError
from tests.integration.command import ROOT, Workplace, until
from tests.integration.machine_state import machine_state

pytestmark = [pytest.mark.alone, pytest.mark.slow]

# What more kernels have than the default.
SETTINGS = {"tc-redirect": {"classifier": "u32"}}
UP = """
import json, sys
from plimsoll.dut.registry.labs import lab_of_kind
from plimsoll.dut.registry.standing import lab_while
settings = json.loads(sys.argv[1])
with lab_while(type(lab_of_kind(settings["kind"])).model_validate(settings)):
    print("up", flush=True)
    sys.stdin.read()
"""
NEXT_COMMAND = "from plimsoll.host.ledger.ledger import sweep; print(*sweep(), sep='\\n')"


def kinds_that_stand() -> Iterator[str]:
    """Those that bring something up, of their own and without devices of the user's."""
    for kind in lab_kinds():
        try:
            settings = lab_of_kind(kind)
        except PlimsollError:
            continue
        if settings.can_stand:
            yield kind


def python(place: Workplace, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", *words],
        cwd=ROOT,
        env=place.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def changes(before: frozenset[str], place: Workplace) -> list[str]:
    after = machine_state(str(place.state))
    return sorted([*(f"still there: {each}" for each in after - before),
                   *(f"gone: {each}" for each in before - after)])  # fmt: skip


def assert_as_before(before: frozenset[str], place: Workplace) -> None:
    """Processes that were killed and namespaces without one may need a moment."""
    try:
        until(lambda: not changes(before, place), "the machine to be as it was", patience_s=30)
    except AssertionError:
        assert changes(before, place) == []


@pytest.fixture(scope="module", autouse=True)
def used_before() -> None:
    """From the first namespace with a name on, iproute2 keeps /run/netns mounted."""
    for verb in ("add", "del"):
        subprocess.run(["ip", "netns", verb, "plimsoll-first"], check=True)


@pytest.fixture(params=list(kinds_that_stand()))
def settings(request: pytest.FixtureRequest) -> str:
    kind: str = request.param
    if missing := lab_of_kind(kind).needs().missing():
        pytest.skip(f"needs {', '.join(missing)}")
    return json.dumps({"kind": kind, **SETTINGS.get(kind, {})})


def test_taken_down_it_leaves_the_machine_as_it_was(settings: str, place: Workplace) -> None:
    before = machine_state(str(place.state))
    process = python(place, UP, settings)
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    assert changes(before, place) != []
    process.communicate("")
    assert process.returncode == 0
    assert_as_before(before, place)


def test_what_sigkill_leaves_the_next_command_removes(settings: str, place: Workplace) -> None:
    before = machine_state(str(place.state))
    process = python(place, UP, settings)
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    for pid in {*place.processes("janitor"), process.pid}:
        os.kill(pid, signal.SIGKILL)
    process.communicate()
    swept = python(place, NEXT_COMMAND)
    swept.communicate()
    assert swept.returncode == 0
    assert_as_before(before, place)


def test_what_stays_is_named(place: Workplace) -> None:
    before = machine_state(str(place.state))
    name = "plimsoll-left"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        assert f"still there: file /run/netns/{name}" in changes(before, place)
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)
    assert changes(before, place) == []
