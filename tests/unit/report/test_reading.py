"""What a reader of the page may take wrongly: headings, bases, exponents, what shares a CPU."""

from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.generator.interface import Cycles
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.report.charts import drawn_types
from plimsoll.report.data.run_data import RunData, load_run
from plimsoll.report.parts.finding_lines import format_measure
from plimsoll.report.parts.tester import calibrations
from plimsoll.report.parts.tester import tester_section as section_of
from tests.unit.report.reader import Page
from tests.unit.report.rendering import rendered
from tests.unit.report.sample_run import Step, write_sample_run
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("step", "heading"),
    [
        (Step("single", 5000, 2, "pass"), "One trial at 5 kpps: pass"),
        (Step("single", 500_000, 2, "fail", loss_ratio=0.2), "One trial at 500 kpps: fail"),
        (Step("single", 500_000, 2, "invalid", stall_ms=61.0), "One trial at 500 kpps: invalid"),
    ],
)
def test_a_single_trial_is_headed_by_its_verdict(tmp_path: Path, step: Step, heading: str) -> None:
    text = Page(
        rendered(load_run(write_sample_run(tmp_path, steps=(step,), finished=False), drawn_types()))
    ).text
    assert heading in text
    assert "No load line yet" not in text
    assert "--resume" not in text


def test_a_loop_is_stalled_for_the_share_that_its_check_found(finished: RunData) -> None:
    assert finished.focus is not None
    check = FindingRecord(
        rule="stalled-share",
        subject="CPU 1",
        value=0.0568,
        limit=0.1,
        unit="ratio",
        outcome="ok",
        text="",
    )
    focus = finished.focus.model_copy(update={"findings": (check,)})
    data = replace(finished, focus=focus)
    assert section_of(data).loops.words("stalled_share")[1] == (("5.68 %",),)
    assert "Share of sending and drain" in Page(rendered(data)).text


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (1.886e-11, "ratio", "1.9 · 10⁻¹¹"),
        (12345678.5, "frames", "12,350,000 frames"),
        (0.00001234, "x", "0.00001234 x"),
    ],
)
def test_figures_have_sensible_digits_and_no_exponent_of_a_computer(
    value: float, unit: str, words: str
) -> None:
    assert format_measure(value, unit) == words


def test_many_cycles_are_written_out(finished: RunData) -> None:
    assert finished.focus is not None
    (worker,) = finished.focus.workers
    cycles = replace(worker.cycles, send=Cycles(ticks=1_013_400, frames=100))
    busy = worker.model_copy(update={"cycles": cycles})
    focus = finished.focus.model_copy(update={"workers": (busy,)})
    (loop,) = section_of(replace(finished, focus=focus)).cycles.words()[1]
    assert loop == ("CPU 1", "36", "10,134", "9", "41")


def test_a_calibration_without_load_says_what_it_sent(finished: RunData) -> None:
    assert finished.environment is not None
    own = finished.environment.calibration
    assert own is not None
    point = own.points[0].model_copy(update={"load_pps": 0.0, "sent_pps": 5_145_000.0})
    environment = finished.environment.model_copy(
        update={"calibration": own.model_copy(update={"points": (point,)})}
    )
    points = calibrations(replace(finished, environment=environment))[0].points
    assert points.words("load_pps", "sent_pps")[1] == (("none", "5.145 Mpps of probes"),)


def test_a_calibration_of_another_run_of_the_matrix_is_shown_as_such(
    finished: RunData, says: Says
) -> None:
    assert finished.environment is not None
    own = finished.environment.calibration
    assert own is not None
    shared = own.model_copy(update={"taken_in": "iteration-0003/sample-1"})
    environment = finished.environment.model_copy(update={"calibration": shared})
    shown = calibrations(replace(finished, environment=environment))[0]
    assert shown.title == says()
    assert shown.sentences == says("iteration-0003/sample-1")


def in_flight(data: RunData, streams: int) -> str:
    """The page's text where so many streams have one frame in flight, and one loop has them."""
    assert data.focus is not None
    probe = data.focus.streams[2].model_copy(update={"pacing": "one-in-flight"})
    several = tuple(probe.model_copy(update={"name": f"floor/{n}"}) for n in range(streams))
    return Page(
        rendered(
            replace(
                data,
                focus=data.focus.model_copy(
                    update={"streams": (*data.focus.streams[:2], *several)}
                ),
            )
        )
    ).text


def test_streams_in_flight_by_one_loop_are_said_to_share_it(finished: RunData) -> None:
    words = "The one-in-flight latencies of floor/0, floor/1 are not independent: these streams "
    assert words + "share CPU 1" in in_flight(finished, 2)
    assert "not independent" not in in_flight(finished, 1)
