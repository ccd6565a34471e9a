"""`plimsoll calibrate` as a user ends it."""

from typing import NoReturn

import pytest

from plimsoll.errors import Interrupted
from tests.unit.cli.runs_command import Plimsoll
from tests.worded.says import Says


def test_an_interruption_says_what_is_kept_and_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, plimsoll: Plimsoll, says: Says
) -> None:
    def interrupted() -> NoReturn:
        raise Interrupted("SIGINT")

    monkeypatch.setattr("plimsoll.cli.machine.calibrate.sweep", interrupted)
    monkeypatch.setattr("plimsoll.cli.machine.calibrate.check_cpus", lambda cpus: None)
    assert plimsoll("calibrate") == 130
    assert plimsoll.err == says()
