"""RFC 2544 against a simulated DUT whose figures are known."""

from pathlib import Path

import pytest

from plimsoll.errors import InputError, Interrupted
from plimsoll.methods.rfc2544.page import rfc2544_answer, run_page
from plimsoll.methods.rfc2544.result import Rfc2544Result
from plimsoll.methods.rfc2544.run import run_rfc2544
from plimsoll.methods.rfc2544.settings import BurstSettings, Rfc2544Settings
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.units import parse_rate
from tests.unit.benchmark.simulated_tests import (
    BUFFER_FRAMES,
    CAPACITY_PPS,
    LINE_64_PPS,
    Seen,
    experiment,
    run_directory,
)
from tests.worded.says import Says

# 64 B frames come at up to 14.88 times the capacity, 1518 B frames at 0.81 of it.
SETTINGS = Rfc2544Settings.quickly().model_copy(
    update={
        "sizes": (64, 1518),
        "back_to_back": BurstSettings(limit_s=0.02, granularity=0.1, repeats=1),
    }
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Rfc2544Result]:
    plan = experiment()
    run = run_directory(tmp_path_factory.mktemp("runs"), plan)
    return run.path, run_rfc2544(plan, SETTINGS, run, Seen())


def test_throughput_is_the_capacity_or_the_line(finished: tuple[Path, Rfc2544Result]) -> None:
    small, large = finished[1].parts.throughput or ()
    assert small.subject.maximum_pps == pytest.approx(LINE_64_PPS)
    assert small.subject.maximum_basis == "line-rate"
    # The buffer lets a 2 s trial pass a little above the capacity, by 4096 frames.
    most = CAPACITY_PPS + BUFFER_FRAMES / 2
    assert small.pps is not None
    assert 0.9 * CAPACITY_PPS <= small.pps <= most
    assert small.limited_by == "dut"
    assert small.l1_bps == pytest.approx(small.pps * 84 * 8)
    assert large.pps == pytest.approx(10e9 / (1538 * 8))
    assert (large.percent_of_maximum, large.limited_by) == (100.0, "maximum")
    assert large.final_s == pytest.approx(2.0)


def test_latency_has_a_tagged_frame_for_each_repetition_and_direction(
    finished: tuple[Path, Rfc2544Result],
) -> None:
    for row in finished[1].parts.latency or ():
        assert row.tagged_ns is not None
        assert row.tagged_ns.count == 2 * SETTINGS.latency.repeats
        assert row.all_frames is not None
        assert row.all_frames.min_ns <= row.tagged_ns.minimum
        assert row.tagged_ns.maximum <= row.all_frames.max_ns


def test_frame_loss_is_what_the_capacity_leaves(finished: tuple[Path, Rfc2544Result]) -> None:
    small, large = finished[1].parts.frame_loss or ()
    by_percent = {point.percent: point.loss_percent for point in small.points}
    for percent in (100.0, 50.0, 10.0):
        carried = CAPACITY_PPS / (LINE_64_PPS * percent / 100)
        # A second's trial and the buffer: 4096 frames more come through.
        assert by_percent[percent] == pytest.approx(100 * (1 - carried), abs=0.6)
    assert small.complete
    assert [point.lost for point in small.points[-2:]] == [0, 0]
    assert [point.lost for point in large.points] == [0, 0]


def test_the_longest_burst_is_the_buffer_and_what_is_forwarded_during_it(
    finished: tuple[Path, Rfc2544Result],
) -> None:
    small, large = finished[1].parts.back_to_back or ()
    longest = BUFFER_FRAMES / (1 - CAPACITY_PPS / LINE_64_PPS)
    assert small.frames is not None
    assert 0.88 * longest <= small.frames.mean <= 1.01 * longest
    assert small.at_limit == 0
    assert small.limit_frames == round(0.02 * LINE_64_PPS)
    assert large.at_limit == SETTINGS.back_to_back.repeats


def test_an_overload_below_the_line_recovers_at_once(
    finished: tuple[Path, Rfc2544Result],
) -> None:
    small, large = finished[1].parts.recovery or ()
    assert small.throughput_pps is not None
    assert small.overload_pps == pytest.approx(1.1 * small.throughput_pps)
    assert small.reduced_pps == pytest.approx(0.55 * small.throughput_pps)
    assert small.recovery_s is not None
    assert small.recovery_s.maximum <= 0.1
    # 110 % of the line is more than the line.
    assert large.overload_pps == large.throughput_pps
    assert large.never_overloaded == 1
    assert large.recovery_s is None


def test_a_reset_that_cannot_be_is_reported(
    finished: tuple[Path, Rfc2544Result], says: Says
) -> None:
    (statement,) = finished[1].parts.reset or ()
    assert statement.subject.frames == "64"
    assert statement.outage_s is None
    assert statement.reason == says()


def test_the_quick_preset_says_so_everywhere(
    finished: tuple[Path, Rfc2544Result], says: Says
) -> None:
    path, result = finished
    assert result.quick
    assert [each.what for each in result.shortfalls] == says()
    read = Rfc2544Result.model_validate_json((path / "result.json").read_text())
    assert read == result
    (warning,) = rfc2544_answer(run_of(path)).warnings
    assert warning == says("2s", "1m00s")


def test_the_page_has_every_part_and_its_graphs(
    finished: tuple[Path, Rfc2544Result], says: Says
) -> None:
    answer = rfc2544_answer(run_of(finished[0]))
    assert [section.title for section in answer.sections] == [
        "Throughput",
        "Latency",
        "Frame loss rate",
        "Back-to-back frames",
        "System recovery",
        "Reset",
    ]
    page = run_page(run_of(finished[0]))
    assert [figure.name for figure in page.figures] == ["throughput", "frame-loss", "trial-10-rate"]
    assert all(figure.chart is not None for figure in page.figures)
    assert answer.heading == says("64", "14.88")


def test_a_killed_run_goes_on_after_its_last_trial(tmp_path: Path, says: Says) -> None:
    plan = experiment()
    settings = SETTINGS.model_copy(update={"sizes": (1518,)})
    run = run_directory(tmp_path, plan)
    with pytest.raises(Interrupted):
        run_rfc2544(plan, settings, run, Seen(most=5))
    so_far = rfc2544_answer(run)
    assert [section.title for section in so_far.sections] == ["Throughput", "Latency"]
    rest = Seen()
    result = run_rfc2544(plan, settings, run, rest)
    trials = read_journal(run.journal).trials()
    assert [trial.number for trial in trials] == list(range(1, len(trials) + 1))
    assert [trial.number for trial in rest.trials] == [trial.number for trial in trials[5:]]
    steps = [trial.step for trial in trials]
    assert len(set(steps)) == len(steps)
    assert " ".join(rest.notes) == says("5")
    assert result.parts.throughput is not None
    assert result.parts.reset is not None


def test_a_finished_run_stands(finished: tuple[Path, Rfc2544Result]) -> None:
    path, result = finished
    again = Seen()
    assert run_rfc2544(experiment(), SETTINGS, run_of(path), again) == result
    assert again.trials == []


def test_a_lab_with_a_line_rate_has_its_own_maximum(tmp_path: Path, says: Says) -> None:
    plan = experiment()
    settings = SETTINGS.model_copy(update={"maximum": parse_rate("2Mpps")})
    with pytest.raises(InputError) as error:
        run_rfc2544(plan, settings, run_directory(tmp_path, plan), Seen())
    assert error.value == says("--maximum")
    assert (error.value.where, error.value.remedy) == ("--maximum", "leave it out")


def run_of(path: Path) -> RunDirectory:
    return RunDirectory.open(path)
