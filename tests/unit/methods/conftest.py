"""The command, as tests of commands have it."""

from tests.unit.cli.conftest import plimsoll

__all__ = ["plimsoll"]
