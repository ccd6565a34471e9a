"""Completion of run ids in the shell, as a shell asks for it."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.terminal.options.run_choice import complete_run
from tests.unit.record.index.run_dirs import make_run

# Under the name by which a shell knows it.
PLIMSOLL = "import sys; sys.argv = ['plimsoll']; from plimsoll.cli.main import main; main()"
CHECKOUT = Path(__file__).resolve().parents[4]


def offered(runs: Path | None, incomplete: str) -> list[str]:
    context: Any = SimpleNamespace(params={} if runs is None else {"runs": runs})
    return complete_run(context, incomplete)


def test_ids_that_begin_so_are_offered_the_last_first(tmp_path: Path) -> None:
    for run_id in ("20260314T120005-demo", "20260315T120005-demo", "20270101T000000-demo"):
        make_run(tmp_path, run_id)
    assert offered(tmp_path, "2026") == ["20260315T120005-demo", "20260314T120005-demo"]
    assert offered(tmp_path, "")[:2] == ["last", "20270101T000000-demo"]
    assert offered(tmp_path, "la") == ["last"]


def test_what_would_drive_the_terminal_is_not_offered(tmp_path: Path) -> None:
    make_run(tmp_path, "20260314T120005-\x1b[2J")
    assert offered(tmp_path, "2026") == []


def test_without_runs_nothing_is_said(tmp_path: Path) -> None:
    assert offered(tmp_path / "gone", "") == []


@pytest.mark.slow
def test_a_shell_is_given_them(tmp_path: Path) -> None:
    make_run(tmp_path / "mine", "20260314T120005-demo")
    for words in ("plimsoll runs show --runs mine 2026", "plimsoll runs rm --runs mine 2026"):
        done = subprocess.run(
            [sys.executable, "-c", PLIMSOLL],
            env={
                **os.environ,
                "PYTHONPATH": str(CHECKOUT),
                "_PLIMSOLL_COMPLETE": "complete_bash",
                "COMP_WORDS": words,
                "COMP_CWORD": str(len(words.split()) - 1),
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.split() == ["20260314T120005-demo"]
