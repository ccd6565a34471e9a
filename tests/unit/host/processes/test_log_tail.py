"""The end of a program's log."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.host.processes.child import log_ending, log_tail
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        (b"\x1b[2J\x1b[1;31mEAL: no memory\x1b[0m\n", "EAL: no memory"),
        (b"\x1b]0;a title\x07EAL: no memory\n", "0;a titleEAL: no memory"),
        (b"EAL:\tno\x00 mem\x7fory\n", "EAL:\tno memory"),
        ("\u009b31mEAL\u0085\n".encode(), "31mEAL"),
        (b"\xff\xfe\n", "\ufffd\ufffd"),
    ],
)
def test_nothing_of_it_commands_a_terminal(tmp_path: Path, written: bytes, seen: str) -> None:
    log = tmp_path / "log"
    log.write_bytes(written)
    assert log_tail(log) == (seen,)


def test_empty_lines_are_left_out(tmp_path: Path, says: Says) -> None:
    log = tmp_path / "log"
    log.write_text("one\n\n \n\x1b[0m\ntwo\n")
    assert log_tail(log) == ("one", "two")
    assert log_tail(log, lines=1) == ("two",)
    assert log_ending(log).splitlines() == [says(), "    one", "    two"]
