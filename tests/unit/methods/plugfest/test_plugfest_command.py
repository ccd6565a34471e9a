"""`plimsoll plugfest`, from the words to the exit code, on simulated DUTs."""

import json
import sys
from pathlib import Path

import pytest

from plimsoll.cli.main import main
from tests.unit.methods.plugfest.plugfest_files import ABSENT, FAST, SLOW, write_plugfest
from tests.worded.says import Says


def _plimsoll(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["plimsoll", *(str(word) for word in words)])
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


DUTS = {"fast": FAST, "slow": SLOW, "gone": ABSENT}


def test_what_it_will_do_comes_first_then_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_plugfest(tmp_path, {"duts": DUTS, "repetitions": 1, "seed": 8})
    runs = tmp_path / "runs"
    words = ("plugfest", path, "--runs", runs, "--budget", "2h")
    assert _plimsoll(monkeypatch, *words) == 0
    said = capsys.readouterr()
    assert "3 cells, 2 of which can be run, 1 repetition each; order drawn by seed 8" in said.err
    assert "refused: gone, p2p, 1 flow, 64 B" in said.err
    assert "(2h00m): to stay within the budget, repeats are dropped, never cells" in said.err
    assert said.err.index("estimate: ") < said.err.index("iteration ")
    assert "≥ 15 kpps" in said.out
    assert "0000:ff:1f.6" in said.out
    (run,) = runs.iterdir()
    assert (run / "report.html").is_file()
    assert _plimsoll(monkeypatch, "plugfest", "--resume", run, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert [cell["state"] for cell in result["cells"]] == ["measured", "measured", "refused"]


def test_a_dry_run_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, runs = write_plugfest(tmp_path, {"duts": DUTS}), tmp_path / "runs"
    assert _plimsoll(monkeypatch, "plugfest", path, "--runs", runs, "--dry-run") == 0
    assert "2 of which can be run, 4 repetitions each" in capsys.readouterr().err
    assert not runs.exists()


def test_a_budget_below_one_round_is_warned_of_before_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_plugfest(tmp_path, {"duts": DUTS})
    for budget, warned in (("2s", True), ("2h", False)):
        words = ("plugfest", path, "--runs", tmp_path, "--budget", budget, "--dry-run")
        assert _plimsoll(monkeypatch, *words) == 0
        found = "warning: one repetition of each cell takes longer than the 2" in (
            capsys.readouterr().err
        )
        assert found == warned


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["plugfest"], ()),
        (["plugfest", "a.yaml", "--resume", "runs/b"], ("resume",)),
        (["plugfest", "a.yaml", "--budget", "long"], ("--budget",)),
        (["plugfest", "absent.yaml"], ("absent.yaml",)),
    ],
)
def test_bad_input_is_exit_2(
    words: list[str],
    facts: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    says: Says,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _plimsoll(monkeypatch, *words) == 2
    assert capsys.readouterr().err == says(*facts)
