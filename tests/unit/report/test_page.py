import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.results.result import TesterCeiling, TesterDiagnosis
from plimsoll.record.run.journal import Journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.latency_record import LongestLatency
from plimsoll.record.trials.stream_record import FrameSizeRecord
from plimsoll.report.charts import drawn_types
from plimsoll.report.data.run_data import RunData, load_run
from plimsoll.report.parts.trial_details import tables_of_streams
from plimsoll.report.registry import write_report
from plimsoll.text.units import format_ns
from tests.unit.report.reader import Page
from tests.unit.report.rendering import rendered
from tests.unit.report.sample_run import STEPS, write_sample_run
from tests.worded.says import Says, passage

HOSTILE = "</script><script>alert(1)</script><b>bold & 'quoted'"


@pytest.fixture(scope="module")
def page(finished: RunData) -> Page:
    return Page(rendered(finished))


def test_the_answer_comes_first(page: Page) -> None:
    text = page.text
    assert text.index("2.742 Mpps per direction") < text.index("Why believe it")
    # 2742187.5 pps, sent as whole frames of each second, of which one way 1000 go to the probe;
    # 84 B and 60 B a frame; of 10 Gbit/s.
    for words in (
        "2,742,188 pps",
        "intended, per direction",
        "Intended load 2.742 Mpps per direction; offered load 2.742 Mpps, the same",
        "5.483 Mpps",
        "1.843 Gbps",
        "1.316 Gbps",
        "18.43 %",
        "validated for 1m00s",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("limited_by", "words"),
    [
        ("dut", "Limited by the DUT"),
        ("tester", "Limited by the tester: it cannot test above this load. The DUT may carry"),
        ("maximum", "The highest load that was searched. The DUT may carry more."),
    ],
)
def test_what_limits_the_load_line_is_said_next_to_it(
    finished: RunData, limited_by: str, words: str
) -> None:
    assert finished.result is not None
    result = finished.result.model_copy(update={"limited_by": limited_by})
    text = Page(rendered(replace(finished, result=result))).text
    assert text.index("2.742 Mpps") < text.index(words) < text.index("Criterion")


def test_each_criterion_stands_with_its_measure(page: Page, says: Says) -> None:
    first = page.text[: page.text.index("Why believe it")]
    assert "Latency, p99 probe/0-1" in first
    assert "500 µs" in first
    # Two directions lost nothing: one line.
    assert passage(first, "2", "0", "0.002") == says("2", "0", "0.002")
    assert "Offered against intended load" not in first
    checks = page.text[page.text.index("checks of the tester passed in this trial") :]
    assert passage(checks, "load/0-1", "5") == says("load/0-1", "5")


def test_no_loss_is_stated_with_the_bound_it_implies(
    page: Page, finished: RunData, says: Says
) -> None:
    assert finished.focus is not None
    received = sum(stream.received for stream in finished.focus.streams)
    assert passage(page.text, f"{received / 3:,.0f}") == says()


def test_frames_that_came_twice_or_out_of_order_are_in_the_answer(
    page: Page, finished: RunData, says: Says
) -> None:
    assert passage(page.text, "duplicated") == says()
    focus = finished.focus
    assert focus is not None
    first, *others = focus.streams
    changed = first.model_copy(update={"duplicate": 249, "out_of_order": 1000})
    disordered = focus.model_copy(update={"streams": (changed, *others)})
    text = Page(rendered(replace(finished, focus=disordered))).text
    assert passage(text, "249", "duplicated", "1,000") == says("249", "duplicated", "1,000")
    assert text.index("249 were duplicated") < text.index("Why believe it")


def test_the_longest_latency_of_all_samples_stands_with_whose_it_is(
    finished: RunData,
) -> None:
    focus = finished.focus
    assert focus is not None
    longest = LongestLatency(
        latency_ns=9_800_000,
        across_stall=True,
        tester_ns=400_000,
        dut_ns=8_100_000,
        undecided_ns=1_300_000,
    )
    first, *others = focus.streams
    changed = first.model_copy(update={"longest": longest})
    stopped = focus.model_copy(update={"streams": (changed, *others)})
    text = Page(rendered(replace(finished, focus=stopped))).text
    said = f"{first.name} 9.8 ms 400 µs 8.1 ms 1.3 ms excluded from the quantiles"
    assert said in text


def test_invalid_trials_are_counted_and_explained(page: Page) -> None:
    assert "2 of 11 judged trials were invalid" in page.text
    assert "the tester stalled on cpu 1 for 61 ms at worst" in page.text


def test_every_trial_is_in_the_table(page: Page) -> None:
    table = page.text[page.text.index("Trial Phase Intended") : page.text.index("Trial 1: ")]
    for step in STEPS:
        assert step.phase in table
    assert table.count(" invalid ") == 2


def test_environment_and_calibration_are_shown(page: Page) -> None:
    for words in (
        "bench-07",
        "AMD EPYC 7B13",
        "isolcpus=1",
        "DPDK 22.11.6",
        "full load",
        "unknown",
    ):
        assert words in page.text


def test_the_testers_own_part_is_shown(page: Page) -> None:
    text = page.text
    for words in (
        "The 20 longest stalls, with their times",
        "7.5 ms 30.500000 s 987654321030",
        "CPU 1 36 12.5 9 41",
        "Port 0: time stamp counter of the polling loop (software stamps).",
        "port 1 LLDP 2",
    ):
        assert words in text
    assert "ARP" not in text


def test_latency_never_stands_without_lateness(page: Page, finished: RunData, says: Says) -> None:
    assert finished.focus is not None
    probe = finished.focus.streams[2]
    assert probe.lateness.max_ns is not None
    streams = page.text[page.text.index("Lateness of the probes") :]
    assert passage(streams, "p50", "p99.9") == says("p50", "p99.9")
    assert format_ns(probe.lateness.max_ns) in streams


def test_probes_are_counted_by_microsecond(page: Page, finished: RunData) -> None:
    assert finished.focus is not None
    probe = finished.focus.streams[2]
    tables = tables_of_streams(finished)
    assert tables is not None
    of_probe = {table.title: table for table in tables.by_microsecond}[probe.name]
    assert [row[:2] for row in of_probe.rows] == list(probe.latency_us)
    _, shown = of_probe.words()
    assert shown[-1][2] == "100 %"
    assert " ".join(shown[0]) in page.text
    assert finished.focus.streams[0].name not in {each.title for each in tables.by_microsecond}


def test_what_took_a_millisecond_is_in_the_last_bucket(finished: RunData, says: Says) -> None:
    assert finished.focus is not None
    probe = finished.focus.streams[2].model_copy(
        update={"latency_us": ((7, 3), (1000, 1)), "timed_out": 2, "pacing": "one-in-flight"}
    )
    focus = finished.focus.model_copy(update={"streams": (probe,)})
    tables = tables_of_streams(replace(finished, focus=focus))
    assert tables is not None
    (by_microsecond,) = tables.by_microsecond
    assert by_microsecond.words()[1] == (("7", "3", "75 %"), ("1,000 and more", "1", "100 %"))
    (line,) = tables.frames.words("timed_out_frames", "planned_pps")[1]
    assert line == ("2", says("1"))


def test_a_mix_of_sizes_is_reported_with_its_weights(finished: RunData, says: Says) -> None:
    assert finished.focus is not None
    sizes = ((64, 7), (594, 4), (1518, 1))
    mixed = finished.focus.streams[0].model_copy(
        update={
            "frame_sizes": tuple(FrameSizeRecord(size=s, weight=w) for s, w in sizes),
            "planned_pps": None,
            "pacing": "back-to-back",
        }
    )
    focus = finished.focus.model_copy(update={"streams": (mixed,)})
    text = Page(rendered(replace(finished, focus=focus))).text
    assert passage(text, "64", "594", "1518", "7:4:1") == says("64", "594", "1518", "7:4:1")


def test_a_replay_is_reported_with_its_speed(finished: RunData, says: Says) -> None:
    assert finished.focus is not None
    replayed = finished.focus.streams[0].model_copy(
        update={"planned_pps": 500_000.0, "pacing": "captured", "captured_pps": 200_000.0}
    )
    focus = finished.focus.model_copy(update={"streams": (replayed,)})
    text = Page(rendered(replace(finished, focus=focus))).text
    assert passage(text, "500", "captured", "2.5x") == says("500", "captured", "2.5x")


def calibrated(data: RunData, age: timedelta, **changes: object) -> str:
    """The page's text where the earlier calibration is so old, and otherwise changed."""
    assert data.environment is not None
    assert data.began is not None
    (earlier,) = data.environment.earlier_calibrations
    aged = earlier.model_copy(update={"measured_at": data.began - age, **changes})
    environment = data.environment.model_copy(update={"earlier_calibrations": (aged,)})
    return Page(rendered(replace(data, environment=environment))).text


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(days=3), ", 3 days before this run"),
        (timedelta(hours=2, minutes=5), ", 2h05m before this run"),
        (timedelta(minutes=-1), ", after this run began"),
    ],
)
def test_an_earlier_calibration_stands_with_its_age(
    finished: RunData, age: timedelta, words: str
) -> None:
    text = calibrated(finished, age)
    assert "By plimsoll calibrate over net_ring" in text
    assert words in text
    assert text.index("In this run") < text.index("By plimsoll calibrate")
    assert (
        "It carried 8.25 Mpps per direction, 2 at once, without a fault of its own, in 3 of 4 "
        "trials of 500ms. Above it: 17 frames of load/0-0 were skipped, being late." in text
    )


def test_an_earlier_calibration_without_a_clean_rate_says_so(finished: RunData) -> None:
    text = calibrated(finished, timedelta(days=1), clean_rate=None)
    assert "It carried no load without a fault of its own." in text


def test_the_page_loads_nothing(page: Page, finished: RunData) -> None:
    assert all(address.startswith("#") for address in page.addresses)
    assert "link" not in page.tags
    assert "default-src 'none'" in unescape(rendered(finished))


def test_what_a_profile_names_is_text_and_nothing_else(tmp_path: Path) -> None:
    run = write_sample_run(tmp_path, steps=STEPS[:5], finished=False, name=HOSTILE)
    written = rendered(load_run(run, drawn_types()))
    assert "alert(1)</script>" not in written
    assert HOSTILE in Page(written).text


def test_specifications_in_the_page_are_the_charts(finished: RunData) -> None:
    written = rendered(finished)
    found = re.search(r'<script type="application/json" id="drawings">(.*?)</script>', written)
    assert found is not None
    drawings = json.loads(found[1])
    assert set(drawings) == {"charts", "light", "dark"}
    drawn = {name for name, specification in drawings["charts"].items() if specification}
    assert drawn == set(re.findall(r'<div class="chart" id="chart-([a-z-]+)"', written))
    assert drawings["charts"]["lost-frames"] is None


def test_an_unfinished_run_says_so_and_shows_what_it_has(
    cut_short: Callable[[int], RunData],
    says: Says,
) -> None:
    text = Page(rendered(cut_short(8))).text
    assert passage(text, "2.688") == says("2.688")
    assert "plimsoll run --resume" in text


def test_a_load_whose_validation_failed_is_not_the_best_so_far(
    cut_short: Callable[[int], RunData],
    says: Says,
) -> None:
    # Trial 10 passed at 2.797 Mpps, and trial 11, its validation, failed.
    assert passage(Page(rendered(cut_short(11))).text, "2.688") == says("2.688")


def test_a_run_without_any_trial_is_a_page_too(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    text = Page(write_report(run).read_text(encoding="utf-8")).text
    assert "No trial has been started yet." in text
    assert "The run has not recorded its environment." in text


def test_a_trial_cut_short_is_in_the_table(tmp_path: Path) -> None:
    run = write_sample_run(tmp_path, steps=STEPS[:5], finished=False)
    with Journal(run.journal) as journal:
        journal.append("trial-started", number=6, load_pps=5e5)
    text = Page(rendered(load_run(run, drawn_types()))).text
    assert "500 kpps - - unfinished - - started, and not ended" in text


def test_a_report_is_rebuilt_in_place(finished_run: RunDirectory) -> None:
    assert write_report(finished_run) == write_report(finished_run) == finished_run.report
    assert "2.742" in unescape(finished_run.report.read_text(encoding="utf-8"))


def test_a_damaged_record_is_named(tmp_path: Path, says: Says) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    run.journal.write_text('broken\n{"kind": "note", "at_unix_ns": 1}\n')
    with pytest.raises(RecordError) as caught:
        write_report(run)
    assert caught.value == says("1")


def test_where_nothing_could_be_tested_the_reason_comes_first(finished: RunData) -> None:
    """And no criterion that some trial happened to meet is ticked."""
    assert finished.result is not None
    why = "even at the minimum, 50 kpps, no trial could be tested"
    waited = "CPU 0: your polling loop waited 11.6 % of the time for its CPU; java (pid 812) ran"
    diagnosis = TesterDiagnosis(sentences=(waited,), remedy="stop what runs there")
    result = finished.result.model_copy(
        update={"load_line": None, "limited_by": None, "reason": why, "diagnosis": diagnosis}
    )
    text = Page(rendered(replace(finished, result=result))).text
    first_screen = text[: text.index("Why believe it")]
    assert "No load line: could not test" in first_screen
    assert f"The tester, not the DUT, is the reason: {why}." in first_screen
    assert first_screen.index(f"{waited}.") < first_screen.index("do: stop what runs there.")
    assert "loss-ratio" not in first_screen


def test_a_load_line_below_what_the_tester_offers_says_what_that_is(finished: RunData) -> None:
    assert finished.result is not None
    ceiling = TesterCeiling(trial=4, intended_pps=6e6, offered_pps=3.1e6)
    limited = {"limited_by": "tester", "ceiling": ceiling}
    result = finished.result.model_copy(update=limited)
    said = "On these ports the tester offered at most 3.1 Mpps per direction of 6 Mpps (trial 4)."
    assert said in Page(rendered(replace(finished, result=result))).text
    result = finished.result.model_copy(update={**limited, "limited_by": "dut"})
    assert said not in Page(rendered(replace(finished, result=result))).text
