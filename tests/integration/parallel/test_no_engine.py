"""What keeps polling loops out of the tests that run in parallel."""

import pytest

from plimsoll.errors import MachineError
from plimsoll.generator.engine.program import find_engine


def test_no_engine_can_be_started_here() -> None:
    """Nor by commands, which inherit this process's environment."""
    with pytest.raises(MachineError, match="tests/in/parallel is not a program"):
        find_engine()
