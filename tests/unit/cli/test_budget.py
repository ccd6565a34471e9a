"""`plimsoll run --budget`, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.runs_command import Plimsoll
from tests.worded.says import Says

EXPERIMENT = """\
name: sim
lab: {{kind: simulated, model: {{kind: {model}}}}}
profile: {{streams: [{{name: load, role: load}}]}}
trial: {{warmup: null}}
search: {{strategy: {strategy}, minimum: 10kpps, maximum: 2Mpps, validation: {{duration: 20m}}}}
"""


@pytest.fixture(autouse=True)
def files(plimsoll: Plimsoll, state: Path, tmp_path: Path) -> None:
    for name, model, strategy in (
        ("fine", "fixed-capacity", "load-line"),
        ("stalls", "rare-stalls", "load-line"),
        ("halves", "fixed-capacity", "binary"),
    ):
        (tmp_path / f"{name}.yaml").write_text(EXPERIMENT.format(model=model, strategy=strategy))


def _run() -> tuple[dict[str, Any], float]:
    """The result of the only run, and for how long its trials sent."""
    (run,) = Path("runs").iterdir()
    lines = (json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines())
    trials = [line["trial"] for line in lines if line["kind"] == "trial"]
    result = json.loads((run / "result.json").read_text())
    assert len(trials) == result["trials"]["total"] > 0
    return result, sum(trial["sending_s"] for trial in trials)


@pytest.mark.slow
def test_a_search_that_fits_ends_as_without_a_budget(plimsoll: Plimsoll) -> None:
    assert plimsoll("run", "fine.yaml", "--budget", "30m") == 0
    result, sent_s = _run()
    assert result["load_line"]["pps_per_direction"] == pytest.approx(1e6, rel=0.01)
    assert 1200.0 <= sent_s <= 1800.0


def test_what_does_not_fit_is_not_begun_and_the_end_says_so(plimsoll: Plimsoll, says: Says) -> None:
    """The first validation fails, and there is no time for another one."""
    assert plimsoll("run", "stalls.yaml", "--budget", "22m") == 1
    result, sent_s = _run()
    assert result["load_line"] is None
    assert json.dumps(result) == says("budget", "22m00s")
    assert 0.0 < sent_s <= 1320.0


@pytest.mark.slow
def test_it_is_recorded_with_the_experiment(plimsoll: Plimsoll) -> None:
    assert plimsoll("run", "stalls.yaml", "--budget", "22m") == 1
    (run,) = Path("runs").iterdir()
    assert "budget: 1320" in (run / "experiment.yaml").read_text()


@pytest.mark.parametrize(
    ("experiment", "budget", "facts"),
    [
        ("fine.yaml", "10m", ()),
        ("fine.yaml", "soon", ()),
        ("halves.yaml", "30m", ()),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused(
    plimsoll: Plimsoll, experiment: str, budget: str, facts: tuple[str, ...], says: Says
) -> None:
    assert plimsoll("run", experiment, "--budget", budget) == 2
    assert plimsoll.err == says(*facts)
    assert not Path("runs").exists()
