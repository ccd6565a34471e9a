"""How long a plugfest is said to take, by plans of known lengths."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.benchmark.check.check import planned_duration
from plimsoll.benchmark.check.planned_phases import PlannedTime, TypicalPhase
from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.methods.matrix.settings import Sample
from plimsoll.methods.plugfest import run as module
from plimsoll.methods.plugfest.plan import read_plugfest_plan
from plimsoll.methods.plugfest.run import Span, estimate
from tests.unit.methods.plugfest.plugfest_files import FAST, SLOW
from tests.unit.methods.plugfest.test_plugfest_run import begin

# 5 s of each repetition, 1.2 s of each trial, 2.5 s of the calibration's bed, as docs/plugfest.md
# says; each trial sends and drains for 1.3 s.
CALIBRATION_S = 2.5 + 2 * 2.5
CEILING_S = 2 * 2.5
SEARCH_S = 6 * 2.5
CELL_S = 5 + CEILING_S + SEARCH_S


@pytest.fixture(autouse=True)
def _planned(monkeypatch: pytest.MonkeyPatch) -> None:
    def planned(experiment: Experiment) -> PlannedTime:
        maximum_pps = planned_duration(experiment).maximum_pps
        phases = (
            TypicalPhase("calibration", 2, 2.6),
            TypicalPhase("ceiling", 2, 2.6),
            TypicalPhase("search", 6, 7.8),
        )
        return PlannedTime((), 0.0, 0.0, (), phases, maximum_pps)

    monkeypatch.setattr(module, "planned_duration", planned)


def of(
    folder: Path, section: dict[str, Any], done: set[Sample], refused: set[int] | None = None
) -> tuple[Span | None, Span | None]:
    run = begin(folder, {"seed": 3, **section})
    plan, _ = read_plugfest_plan(run)
    found = estimate(run, plan, refused or set(), done)
    return found.first, found.all_of_it


def test_a_calibration_counts_once_for_the_cells_that_share_it(tmp_path: Path) -> None:
    section = {"duts": {"one": FAST, "other": FAST}, "repetitions": 3}
    first, whole = of(tmp_path, section, set())
    assert first is not None
    assert whole is not None
    assert first.least_s == pytest.approx(CALIBRATION_S + 2 * CELL_S)
    assert whole.least_s == pytest.approx(CALIBRATION_S + 6 * CELL_S)


def test_another_maximum_has_a_calibration_of_its_own(tmp_path: Path) -> None:
    first, _ = of(tmp_path, {"duts": {"fast": FAST, "slow": SLOW}, "repetitions": 1}, set())
    assert first is not None
    assert first.least_s == pytest.approx(2 * (CALIBRATION_S + CELL_S))


def test_the_search_alone_has_trials_that_are_run_again(tmp_path: Path) -> None:
    first, _ = of(tmp_path, {"duts": {"fast": FAST}, "repetitions": 1}, set())
    assert first is not None
    assert first.most_s - first.least_s == pytest.approx(SEARCH_S * (1 / 0.7 - 1))


def test_what_is_done_is_not_to_be_done(tmp_path: Path) -> None:
    section = {"duts": {"fast": FAST, "slow": SLOW}, "repetitions": 2}
    first, whole = of(tmp_path, section, {Sample(1, 1), Sample(2, 1), Sample(2, 2)})
    assert first == Span()
    assert whole is not None
    assert whole.least_s == pytest.approx(CALIBRATION_S + CELL_S)


def test_refused_cells_take_no_time(tmp_path: Path) -> None:
    section = {"duts": {"fast": FAST, "slow": SLOW}, "repetitions": 1}
    first, whole = of(tmp_path, section, set(), refused={2})
    assert first is not None
    assert first == whole
    assert first.least_s == pytest.approx(CALIBRATION_S + CELL_S)


def test_where_one_search_is_not_known_nothing_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "planned_duration", lambda _: PlannedTime((), None, None, ()))
    assert of(tmp_path, {"duts": {"fast": FAST}}, set()) == (None, None)
