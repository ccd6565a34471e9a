"""`plimsoll simulate` as a user sees it."""

import json
import sys
from pathlib import Path

import pytest

from plimsoll.cli.main import main
from plimsoll.search.simulated.models.registry import model_kinds
from tests.worded.says import Says, passage


def simulate(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["plimsoll", "simulate", *(str(word) for word in words)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_it_lists_every_model_with_its_fields(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simulate(monkeypatch, "--list") == 0
    printed = capsys.readouterr().out
    for kind, model in model_kinds().items():
        assert f"{kind}  {model.summary}" in printed
    assert "length_deviation=0.25" in printed


def test_it_prints_the_truth_next_to_what_was_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], says: Says
) -> None:
    words = ["fixed-capacity", "--validation", "20s", "--set", "search.width=2%"]
    assert simulate(monkeypatch, *words, "--set", "capacity=2Mpps") == 0
    printed = capsys.readouterr()
    assert "Simulation: fixed-capacity, seed 0" in printed.out
    assert passage(printed.out, "1.998", "Mpps", "0.002", "3h00m") == says()
    assert "all of it simulated" in printed.out
    assert "SIMULATED" in printed.err


def test_it_prints_json_and_keeps_the_run_where_requested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, says: Says
) -> None:
    words = ["asymmetric", "--validation", "10s", "--runs", tmp_path, "--json", "--seed", 3]
    assert simulate(monkeypatch, *words, "--set", "search.width=5%") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["model"], found["seed"], found["horizon_s"]) == ("asymmetric", 3, 10_800)
    assert found["sustainable_pps"] == pytest.approx(0.6994e6, rel=1e-3)
    (run,) = tmp_path.iterdir()
    assert passage((run / "report.html").read_text(), "model", "asymmetric") == says()
    result = json.loads((run / "result.json").read_text())
    assert "simulation" in result["versions"]
    line = result["load_line"]
    assert line["pps_per_direction"] == found["found_pps"]
    # The load goes both ways, and the probe's 1000 pps each way are a part of it.
    assert line["total_pps"] == pytest.approx(2 * line["pps_per_direction"], abs=1)


def test_no_load_line_is_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["random-loss", "--loss", "0", "--set", "loss=1%", "--validation", "10s"]
    assert simulate(monkeypatch, *words) == 1
    assert "sustainable  none per direction" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        ([], ("plimsoll simulate", "plimsoll simulate --list")),
        (["drfit"], ("drfit", "plimsoll simulate")),
        (["drift", "--loss", "x"], ("x", "--loss")),
        (["drift", "--strategy", "binry"], ("binry", "--strategy")),
        (["drift", "--validation", "0s"], ("--validation", "0s")),
        (["drift", "--set", "depth"], ("depth", "--set")),
        (["drift", "--set", "depth=2"], ("--set", "depth", "2", "0")),
    ],
)
def test_mistakes_are_one_message(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    facts: tuple[str, ...],
    says: Says,
) -> None:
    assert simulate(monkeypatch, *words) == 2
    said = capsys.readouterr().err
    assert said == says(*facts)
    assert "remedy: " in said
