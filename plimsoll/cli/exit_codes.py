"""Exit codes that have no error behind them; those of errors are in plimsoll/errors.py."""

from __future__ import annotations

# As a shell has it for a program that SIGINT ended.
SIGNALLED = 130
