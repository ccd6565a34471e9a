"""What keeps polling loops out of the tests that run in parallel."""

import pytest

from plimsoll.errors import MachineError
from plimsoll.generator.engine.program import find_engine
from tests.integration.command import Workplace


def test_no_engine_can_be_started_here(place: Workplace) -> None:
    with pytest.raises(MachineError, match="tests/in/parallel"):
        find_engine()
    trial = ("trial", place.experiment(lab={"kind": "loopback"}), "--load", "1kpps")
    done = place.run(*trial, "--duration", "1s", "--runs", place.runs)
    assert done.returncode == 3
    assert "tests/in/parallel is not a program" in done.stderr
