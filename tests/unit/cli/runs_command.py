"""A command as a user calls it, in this process."""

import sys
from dataclasses import dataclass

import pytest

from plimsoll.cli.main import main


def exit_code(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    """Of `plimsoll` with these words."""
    monkeypatch.setattr(sys, "argv", ["plimsoll", *(str(word) for word in words)])
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@dataclass
class Plimsoll:
    """Calls the command in a folder, and keeps what it last said, by stream."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    out: str = ""
    err: str = ""

    def __call__(self, *words: object) -> int:
        code = exit_code(self.monkeypatch, *words)
        said = self.capsys.readouterr()
        # The width at which errors are folded is the terminal's, of which there is none.
        self.out, self.err = said.out, " ".join(said.err.split())
        return code
