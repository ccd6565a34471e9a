"""`plimsoll runs` as a user calls it."""

import sys
from dataclasses import dataclass

import pytest

from plimsoll.cli.main import main


@dataclass
class Plimsoll:
    """Calls the command in a folder, and keeps what it last said, by stream."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    out: str = ""
    err: str = ""

    def __call__(self, *words: object) -> int:
        self.monkeypatch.setattr(sys, "argv", ["plimsoll", *(str(word) for word in words)])
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        said = self.capsys.readouterr()
        # The width at which errors are folded is the terminal's, of which there is none.
        self.out, self.err = said.out, " ".join(said.err.split())
        return code
