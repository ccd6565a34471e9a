"""`plimsoll console`, as a user types and as a script pipes, with the real engine."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pexpect
import pyte
import pytest

from tests.integration.command import (
    ROOT,
    Workplace,
    assert_nothing_is_left,
    hugepages,
    until,
    workplace,
)
from tests.integration.network import network

pytestmark = pytest.mark.usefixtures("live_in_turn")

LOOPBACK = {"lab": {"kind": "loopback", "ports": 2}}
DEADLINE_S = 120


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workplace]:
    with workplace(tmp_path) as place:
        yield place


class Terminal:
    """What a user sees: only what changes is drawn, so its text is nowhere whole but here."""

    def __init__(self, child: pexpect.spawn) -> None:
        self._child = child
        self._screen = pyte.Screen(160, 40)
        # It is asked where its cursor is, and answers as a terminal does.
        self._screen.write_process_input = child.send
        self._stream = pyte.ByteStream(self._screen)

    def shows(self, text: str) -> None:
        """Wait until it is on the screen."""
        until(lambda: self._has(text), f"{text!r} on the screen", DEADLINE_S)

    def _has(self, text: str) -> bool:
        with suppress(pexpect.TIMEOUT):
            self._stream.feed(self._child.read_nonblocking(1 << 16, timeout=0.1))
        return any(text in line for line in self._screen.display)


def piped(
    place: Workplace, script: str, lab: dict[str, Any] = LOOPBACK, enter: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*enter, *place.argv("console", place.experiment(**lab))],
        cwd=ROOT,
        env=place.environment,
        input=script,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_script_starts_changes_and_stops(place: Workplace) -> None:
    before = hugepages()
    ended = piped(
        place,
        "streams\nstart 2kpps\nsleep 1s\nload 4kpps\nsleep 1s\nrate probe 0pps\nsleep 1s\n"
        "stop\nstats\n",
    )
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[0] == "load/0-0: load, port 0 to 0, 64 B, 0 pps, constant"
    assert "started all streams at 2 kpps per direction" in lines
    assert "load is 4 kpps per direction" in lines
    (row,) = (row for row in map(str.split, lines) if row[:2] == ["load/0-0", "stopped"])
    sent, received, lost = (int(word.replace(",", "")) for word in row[8:11])
    # 2 kpps for a second and 4 kpps for two, as far as the machine let it.
    assert sent > 4000
    assert (received, lost) == (sent, 0)
    assert_nothing_is_left(place, before)


def test_a_script_ends_at_its_first_mistake(place: Workplace) -> None:
    ended = piped(place, "start 1kpps\nstrat\nstart 2kpps\n")
    assert ended.returncode == 2
    assert "line 2, console: there is no command 'strat'" in ended.stderr
    assert "did you mean stats?" in ended.stderr
    assert "2 kpps" not in ended.stdout


@pytest.mark.skipif(
    not os.access("/dev/net/tun", os.R_OK | os.W_OK), reason="/dev/net/tun cannot be opened"
)
def test_links_of_ports_go_down_and_up(place: Workplace) -> None:
    taps = [{"devargs": f"net_tap{n},iface=pl-tap{n}"} for n in range(2)]
    lab = {"lab": {"kind": "external", "ports": taps}}
    with network() as bed:
        ended = piped(place, "link 1 down\nlink 1 up\nlink 2 up\n", lab, bed.enter)
    assert ended.stdout.splitlines() == ["link of port 1 is down", "link of port 1 is up"]
    assert ended.returncode == 2
    assert "line 3, console: there is no port 2" in ended.stderr


def test_it_is_typed_at_a_terminal(place: Workplace, tmp_path: Path) -> None:
    before = hugepages()
    command, *words = place.argv("console", place.experiment(**LOOPBACK))
    environment = {**place.environment, "XDG_STATE_HOME": str(tmp_path), "TERM": "xterm"}
    child = pexpect.spawn(
        command, words, cwd=str(ROOT), env=environment, timeout=1, dimensions=(40, 160)
    )
    try:
        _type(Terminal(child), child)
    finally:
        child.close(force=True)
    assert child.exitstatus == 0
    history = (tmp_path / "plimsoll/console_history").read_text()
    assert re.findall(r"^\+(.*)", history, re.MULTILINE)[-1] == "stop"
    assert_nothing_is_left(place, before)


def _type(terminal: Terminal, child: pexpect.spawn) -> None:
    terminal.shows("plimsoll>")
    child.send("sta\t")
    terminal.shows("stats")
    child.send("\x15start lo\t")
    terminal.shows("start load")
    child.send("\x15start 2kpps\r")
    terminal.shows("started all streams at 2 kpps per direction")
    terminal.shows("sending · load 2 kpps")
    child.send("oops\r")
    terminal.shows("there is no command 'oops'")
    child.send("live\r")
    terminal.shows("foreign")
    child.send("\x03")
    terminal.shows("plimsoll>")
    child.send("stop\r")
    terminal.shows("stopped all streams")
    child.send("\x04")
    child.expect(pexpect.EOF, timeout=DEADLINE_S)


def test_nothing_is_left_of_one_that_was_killed(place: Workplace) -> None:
    before = hugepages()
    process = subprocess.Popen(
        place.argv("console", place.experiment(**LOOPBACK)),
        cwd=ROOT,
        env=place.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("start 1kpps\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith("started")
    until(lambda: bool(place.processes("plimsoll-engine")), "the engine")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdin.close()
    process.stdout.close()
    assert_nothing_is_left(place, before)
