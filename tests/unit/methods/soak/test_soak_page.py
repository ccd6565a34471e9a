"""The page of a soak, of runs on the simulated lab in every state."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.benchmark.session.session import begin
from plimsoll.generator.interface import Interval
from plimsoll.methods.soak.data import elapsed, load_soak, windows_table
from plimsoll.methods.soak.page import page_of_soak
from plimsoll.methods.soak.result import METHOD
from plimsoll.methods.soak.run import run_soak
from plimsoll.record.recorder import recording
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import write_report
from plimsoll.report.figures.figure import Figure
from tests.unit.methods.soak.soak_runs import (
    Silent,
    soak_experiment,
    soak_run,
    soak_settings,
    soaked,
)


class Broken(Exception):
    """Stands for a kill."""


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return soaked(tmp_path_factory.mktemp("held"), soak_settings())[0]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return soaked(tmp_path_factory.mktemp("broken"), soak_settings("1.1Mpps"))[0]


def text_of(run: RunDirectory) -> str:
    return write_report(run).read_text(encoding="utf-8")


def rows_of(figure: Figure) -> list[dict[str, Any]]:
    """All rows that a chart draws, of whichever layer."""
    specification = figure.specification() or {}
    places = [specification, *specification.get("layer", [])]
    return [row for place in places for row in place.get("data", {}).get("values", [])]


def test_the_answer_comes_first(held: RunDirectory) -> None:
    page = text_of(held)
    assert '<span class="mark pass">Holds</span>' in page
    assert "3m00s<small>at 500 kpps per direction</small>" in page
    assert "No loss in 180 s: with 95 % confidence" in page
    assert "<dd>3 of 3</dd>" in page
    assert "The DUT lost no frame in any completed window" in page


def test_a_broken_soak_says_so_and_when(broken: RunDirectory) -> None:
    page = text_of(broken)
    assert '<span class="mark fail">Broken</span>' in page
    assert '<span class="mark fail">fail</span>' in page
    assert "frames lost" in page
    (event,) = load_soak(broken).result.losses.events
    assert f'<td class="n">{event.frames:,}</td>' in page


def test_every_window_is_a_line(held: RunDirectory) -> None:
    windows = windows_table(load_soak(held))
    assert windows.words("window", "begin_s", "verdict")[1] == (
        ("1", "0:00:00.0", "pass"),
        ("2", "0:01:00.0", "pass"),
        ("3", "0:02:00.0", "pass"),
    )
    assert all(p99.endswith("µs") for (p99,) in windows.words("p99_ns")[1])


def test_charts_keep_the_least_and_the_greatest(held: RunDirectory) -> None:
    strip, rate, latency = page_of_soak(load_soak(held)).figures
    for figure in (strip, rate, latency):
        assert figure.specification() is not None
    rows = [row for row in rows_of(strip) if "begin" in row]
    assert [(row["begin"], row["end"]) for row in rows[:2]] == [(0.0, 60.0), (60.0, 120.0)]
    values = [row for row in rows_of(rate) if "least" in row]
    assert {row["direction"] for row in values} == {"port 0 → 1", "port 1 → 0"}
    assert all(row["least"] <= row["median"] <= row["greatest"] for row in values)


def test_a_soak_that_was_killed_shows_what_there_is(tmp_path: Path) -> None:
    def kill(interval: Interval) -> None:
        if interval.begin_s == 130.0:
            raise Broken

    with pytest.raises(Broken):
        soaked(tmp_path, soak_settings(), each=kill)
    (path,) = tmp_path.iterdir()
    page = text_of(RunDirectory.open(path))
    assert "It has not ended: it is running, or was killed and can be resumed." in page
    assert "<dd>2 of 2</dd>" in page
    # The last seconds are of no window, and in the charts.
    (series, _) = load_soak(RunDirectory.open(path)).of("rx-pps")
    assert max(each.at_s for each in series.stretches) > 129


def test_a_soak_that_has_only_begun_has_a_page(tmp_path: Path) -> None:
    experiment = soak_experiment()
    run = soak_run(tmp_path, experiment)
    with recording(run) as recorder:
        begin(recorder, METHOD, experiment, soak_settings().model_dump(mode="json"))
    page = text_of(run)
    assert "Not begun" in page
    assert "No window has closed yet." in page


def test_a_resumed_soak_names_its_gap(tmp_path: Path) -> None:
    def kill(interval: Interval) -> None:
        if interval.begin_s == 70.0:
            raise Broken

    experiment = soak_experiment()
    run = soak_run(tmp_path, experiment)
    with pytest.raises(Broken):
        run_soak(experiment, soak_settings(), run, Silent(kill))
    run_soak(experiment, soak_settings(), run, Silent())
    page = text_of(run)
    assert "killed or running" in page
    assert "<dd>3 of 3</dd>" in page


def test_elapsed_times_are_read_at_a_glance() -> None:
    assert elapsed(0) == "0:00:00.0"
    assert elapsed(3 * 3600 + 25 * 60 + 7.26) == "3:25:07.3"
    assert elapsed(59.96) == "0:01:00.0"
