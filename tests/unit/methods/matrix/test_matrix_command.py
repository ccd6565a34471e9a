"""`plimsoll matrix`, from the words to the exit code, on a simulated DUT."""

import json
import sys
from pathlib import Path

import pytest

from plimsoll.cli.main import main
from tests.unit.methods.matrix.matrix_files import write_matrix
from tests.worded.says import Says


def _plimsoll(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["plimsoll", *(str(word) for word in words)])
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def test_a_run_and_its_resumption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_matrix(tmp_path, {"sets": [{"search.maximum": ["20kpps", "30kpps"]}]})
    runs = tmp_path / "runs"
    assert _plimsoll(monkeypatch, "matrix", path, "--runs", runs, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert [each["load_line"]["mean_pps"] for each in result["iterations"]] == [20_000, 30_000]
    (run,) = runs.iterdir()
    assert (run / "iteration-0002" / "sample-1" / "report.html").is_file()
    assert (run / "report.html").is_file()

    assert _plimsoll(monkeypatch, "matrix", "--resume", run) == 0
    assert "30 kpps" in capsys.readouterr().out


def test_a_combination_without_a_load_line_is_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = {"lab.model.capacity": ["5kpps"], "search.minimum": ["20kpps"]}
    path = write_matrix(tmp_path, {"sets": [parameters]})
    assert _plimsoll(monkeypatch, "matrix", path, "--runs", tmp_path / "runs") == 1


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["matrix"], ()),
        (["matrix", "gone.yaml"], ()),
        (["matrix", "gone.yaml", "--resume", "/"], ()),
        (["matrix", "--resume", "/"], ()),
    ],
)
def test_mistakes(
    words: list[str],
    facts: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    says: Says,
) -> None:
    assert _plimsoll(monkeypatch, *words) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert message == says(*facts)
    assert "remedy:" in message


def test_nothing_is_left_by_a_matrix_with_a_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_matrix(tmp_path, {"sets": [{"search.minimum": ["10kpps", "1Gpps"]}]})
    assert _plimsoll(monkeypatch, "matrix", path, "--runs", tmp_path / "runs") == 2
    assert not (tmp_path / "runs").exists()
