"""A trial's data in, its record out."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest
from jsonschema import Draft202012Validator

from plimsoll.attribution.events.chrome_trace import chrome_trace
from plimsoll.attribution.events.trace_reading import on_tsc
from plimsoll.attribution.explanation.incidents_of_trial import incidents_of
from plimsoll.attribution.explanation.returned_frames import StreamLosses
from plimsoll.attribution.incidents.loops import on_tester_cpus_ns
from plimsoll.attribution.ranking.summary import limit_sentence, summarise
from plimsoll.attribution.ranking.trace_gaps import trace_gaps
from plimsoll.attribution.ranking.trial_causes import TrialFacts, causes_of_trial
from plimsoll.generator.interface import (
    ClockReading,
    LossEvent,
    Stall,
    TrialReport,
    WorstLatency,
)
from plimsoll.record.causes.causes_record import TracedCpu, TraceState, read_causes
from plimsoll.record.causes.kernel_events import read_kernel_events, write_kernel_events
from plimsoll.record.causes.spikes import SPIKES, Spike, SpikeLog, attribute_spikes, read_spikes
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.clock_fit import ClockFit
from tests.unit.attribution.traces import (
    AT,
    DUT,
    HZ,
    LOOPS,
    MS,
    TESTER,
    US,
    WHOLE,
    event,
    latency,
    loss,
    stall,
    visit,
)
from tests.unit.record.published import schema_of
from tests.unit.record.trial_parts import PLANS, counts, interval

TRACE = TraceState(
    clock="x86-tsc",
    events=2,
    names=("sched_switch",),
    cpus=(TracedCpu(cpu=1, complete_from_tsc=0, complete_to_tsc=2**62),),
)
EVENTS = visit(0, 4 * MS, DUT, 812, "java")
UNIX = 1_773_480_413_000_000_000
CLOCK = ClockFit.of([ClockReading(AT + n * MS, n * MS, UNIX + n * MS, 40) for n in (0, 100, 200)])


def facts(**more: Any) -> TrialFacts:
    incidents = (latency(-10 * US, 4 * MS), loss(0, 4 * MS), stall(50 * MS, 54 * MS))
    given: dict[str, Any] = {
        "number": 7,
        "tsc_hz": HZ,
        "incidents": incidents,
        "loops": LOOPS,
        "trace": TRACE,
        "events": EVENTS,
        "coverage": WHOLE,
        "clock": CLOCK,
    }
    return TrialFacts(**{**given, **more})


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "demo", {})


def test_incidents_are_what_the_engine_reports() -> None:
    worst = WorstLatency(5, 3, AT, AT + 4 * MS, across_stall=False)
    gap = LossEvent(9, 100, 40, AT, AT + 2 * MS, AT + 5 * MS)
    filled = LossEvent(200, 5, 5, AT, AT + 1, AT + 2)
    first = LossEvent(0, 2, 0, None, AT + 3, AT + 4)
    streams = (
        _with(counts(1), worst=(worst,), losses=(gap, filled, first)),
        _with(counts(99), worst=(worst,)),
    )
    part = interval((), stalls=(Stall(0.5, AT + 4 * MS, 1_000_000),))
    report = TrialReport("duration", 1.0, 0, streams, (), part.workers)
    found = incidents_of(report, {1: "probe/0-1"}, HZ, refused_is_lost=True)
    assert [(each.kind, each.subject, each.frames, each.length_ns) for each in found] == [
        ("loss", "probe/0-1", 60, 2 * MS),
        ("loss", "probe/0-1", 2, 0),
        ("latency", "probe/0-1", 3, 4 * MS),
        ("stall", "CPU 5", 0, MS),
    ]
    assert (found[3].begin_tsc, found[3].end_tsc) == (AT + 3 * MS, AT + 4 * MS)


def _with(made: Any, **more: Any) -> Any:
    return replace(made, **more)


def test_the_record_keeps_to_its_schema_whose_every_property_is_described() -> None:
    schema = schema_of("trial-causes")
    written = json.loads(causes_of_trial(facts()).record.model_dump_json())
    Draft202012Validator(schema).validate(written)
    models = [schema, *schema["$defs"].values()]
    lacking = [
        f"{model['title']}.{name}"
        for model in models
        for name, field in model["properties"].items()
        if not field.get("description")
    ]
    assert lacking == []


def test_the_record_says_what_happened_when_and_how_sure() -> None:
    record = causes_of_trial(facts()).record
    lost, spike, stalled = record.incidents
    assert [each.kind for each in record.incidents] == ["loss", "latency", "stall"]
    assert spike.begin_unix_ns == UNIX - 10 * US
    assert (lost.causes[0].name, lost.causes[0].confidence) == ("java", "exact")
    assert stalled.causes[0].kind == "unexplained"
    assert record.rows[0].name == "java"
    assert (record.rows[0].loss_share, record.rows[0].spike_share) == (1.0, 1.0)
    assert record.clock_error_ns == pytest.approx(40, abs=1)


def test_without_clock_readings_there_is_no_wall_clock() -> None:
    record = causes_of_trial(facts(clock=None)).record
    assert record.clock_error_ns is None
    assert {each.begin_unix_ns for each in record.incidents} == {None}


def test_a_hundred_of_a_kind_are_kept_and_the_rest_counted() -> None:
    many = [stall(50 * MS + n, 50 * MS + 2 * n + 1) for n in range(130)]
    record = causes_of_trial(facts(incidents=many)).record
    assert (len(record.incidents), record.incidents_left_out) == (100, 30)
    assert record.incidents[0].length_ns == 130
    assert record.rows[0].incidents == 130


def test_records_and_events_are_read_back(run: RunDirectory) -> None:
    found = causes_of_trial(facts())
    found.record.write(run)
    write_kernel_events(run, 7, found.events)
    assert read_causes(run) == (found.record,)
    kept = read_kernel_events(run, 7)
    assert {each.name for each in kept} == {"sched_switch"}
    assert kept[0].read_fields()["next_comm"] == "java"
    assert read_kernel_events(run, 8) == []


def test_a_run_without_causes_has_none(run: RunDirectory) -> None:
    assert read_causes(run) == ()


def test_a_damaged_record_is_said_with_its_place(run: RunDirectory) -> None:
    path = causes_of_trial(facts()).record.write(run)
    path.write_text('{"trial": 0}')
    with pytest.raises(RecordError, match=r"7\.json.*cannot be read"):
        read_causes(run)


def test_causes_reach_the_spikes_for_sql(run: RunDirectory) -> None:
    spike = latency(10 * MS, 14 * MS)
    found = causes_of_trial(
        facts(
            incidents=(spike, stall(60 * MS, 64 * MS)),
            events=visit(10 * MS, 14 * MS, DUT, 812, "java"),
        )
    )
    at_ms = UNIX / 1e6 + 10
    rows = [
        Spike("latency", 7, at_ms - 5, at_ms + 50, 4 * MS + 1, None, None, "probe/0-1",
              "unattributed"),
        Spike("latency", 7, at_ms - 5, at_ms + 50, 3 * MS, None, None, "probe/0-1", "unattributed"),
        Spike("latency", 8, at_ms - 5, at_ms + 50, 4 * MS, None, None, "probe/0-1", "unattributed"),
        Spike("stall", 7, at_ms, at_ms + 4, 4 * MS, 0, AT + 64 * MS, None, "tester stall"),
    ]  # fmt: skip
    _write(run, rows)
    assert attribute_spikes(run, found.record) == 2
    with duckdb.connect() as connection:
        answer = connection.execute(
            "SELECT kind, cause, confidence FROM read_parquet(?) WHERE cause IS NOT NULL "
            "ORDER BY kind",
            [str(run.spikes)],
        ).fetchall()
    assert answer[0] == ("latency", "java", "exact")
    assert answer[1][2] == "unexplained"
    assert len(read_spikes(run)) == 4


def _write(run: RunDirectory, rows: list[Spike]) -> None:
    lines = run.path / "rows.jsonl"
    lines.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    SPIKES.convert(lines, run.spikes)


def test_spikes_of_an_earlier_version_have_no_causes_and_are_read(run: RunDirectory) -> None:
    old = [name for name in SPIKES.columns if name not in SPIKES.added]
    made = ", ".join(f'NULL::{SPIKES.columns[name]} AS "{name}"' for name in old)
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {made}) TO '{run.spikes}' (FORMAT parquet)")
    (spike,) = read_spikes(run)
    assert (spike.cause, spike.confidence, spike.woken_by) == (None, None, None)
    with SpikeLog(run) as log:
        log.append(1, PLANS, interval((), stalls=(Stall(0.5, 9, 1000),)))
        log.convert()
    assert len(read_spikes(run)) == 2


def test_a_summary_of_trials_counts_spikes_from_the_limit_given() -> None:
    record = causes_of_trial(facts()).record
    assert summarise([record], 100_000).spike_count == 1
    assert summarise([record], 5 * MS).spike_count == 0
    assert summarise([record, record], 0).lost_frames == 1024


def test_events_of_a_nanosecond_clock_are_brought_onto_the_counter() -> None:
    (moved,) = on_tsc([event(-AT + 100 * MS, 0, "sched_switch")], CLOCK)
    assert moved.tsc == AT + 100 * MS


def test_the_exported_trace_has_each_incident_and_visit_at_its_time() -> None:
    found = causes_of_trial(facts())
    text = chrome_trace([found.record], {7: found.events})
    entries = json.loads(text)["traceEvents"]
    # Times are us since the first incident's begin, 10 us before the visit.
    slices = {entry["name"]: entry for entry in entries if entry["ph"] == "X"}
    java = slices["java [812]"]
    assert (java["ts"], java["dur"]) == (pytest.approx(10), pytest.approx(4_000))
    spike = slices["trial 7: latency of probe/0-1"]
    assert (spike["ts"], spike["dur"]) == (0, pytest.approx(4_010))
    named = {entry["args"]["name"] for entry in entries if entry["ph"] == "M"}
    assert {"Incidents", "CPU 1 (dut: dpdk-testpmd)", "latency probe/0-1"} <= named
    assert {entry["ph"] for entry in entries} <= {"X", "M", "i"}
    assert all(entry["dur"] >= 0 for entry in slices.values())


def test_an_export_without_incidents_is_empty_and_sound() -> None:
    assert json.loads(chrome_trace([], {}))["displayTimeUnit"] == "ns"


def test_a_sentence_counts_all_lost_frames_and_says_what_was_not_looked_at() -> None:
    """611 single losses, of which the record keeps the 100 largest."""
    many = [loss(n * MS, n * MS + 1000, 1) for n in range(611)]
    streams = {"load/0-1": StreamLosses(lost=640)}
    record = causes_of_trial(facts(incidents=many, streams=streams, loss_events=620)).record
    assert record.totals is not None
    assert (record.totals.lost_frames, record.totals.loss_events) == (640, 620)
    summary = summarise([record], 100_000)
    assert (summary.lost_frames, summary.loss_events) == (640, 620)
    assert (summary.ranked_frames, summary.ranked_losses) == (100, 100)
    assert limit_sentence(summary).startswith(
        "Of 640 lost frames in 620 events the 100 largest, with 100 frames, were looked at. Of "
        "these frames, "
    )


def test_records_of_earlier_versions_say_that_there_may_be_more() -> None:
    many = [loss(n * MS, n * MS + 1000, 1) for n in range(130)]
    record = causes_of_trial(facts(incidents=many)).record.model_copy(update={"totals": None})
    assert limit_sentence(summarise([record], 100_000)).startswith(
        "Of at least 100 lost frames in 100 events, "
    )


def test_corrupt_frames_are_not_unexplained() -> None:
    lost = [loss(n * MS, n * MS + 1000, 1) for n in range(5)]
    streams = {"load/0-1": StreamLosses(lost=5, corrupt=5)}
    record = causes_of_trial(facts(incidents=lost, events=(), streams=streams)).record
    said = limit_sentence(summarise([record], 100_000))
    assert "100% by the frames came back corrupt" not in said
    assert "100% came back corrupt" in said
    assert "unexplained" not in said


def test_the_duts_loop_on_the_testers_cpu_is_said_first() -> None:
    """Moved there, it had the tester's CPU for 4 ms, in which nothing was sent or received."""
    moved = visit(50 * MS, 54 * MS, TESTER, DUT.thread_id, "rte-worker-1")
    incidents = (loss(0, 4 * MS), stall(50 * MS, 54 * MS))
    found = causes_of_trial(facts(incidents=incidents, events=(*EVENTS, *moved)))
    assert limit_sentence(summarise([found.record], 100_000)).startswith(
        "The test bed is at fault: dpdk-testpmd (the DUT's loop) had the tester's CPU 0 for 4 ms."
    )
    assert on_tester_cpus_ns(found.explanations) == {DUT.thread_id: 4 * MS}


def test_of_a_time_with_lost_events_it_is_said_what_is_known() -> None:
    cpu = TracedCpu(
        cpu=1, complete_from_tsc=AT + 20 * MS, complete_to_tsc=AT + 2020 * MS, lost_events=4711
    )
    losses = [loss(n * 6 * MS, n * 6 * MS + MS) for n in range(5)]
    record = causes_of_trial(facts(incidents=losses, events=())).record
    # The first four began within 18 ms.
    surest = ("counter", "partial", "unexplained", "unexplained", "exact")
    explained = [
        each.model_copy(
            update={"causes": (each.causes[0].model_copy(update={"confidence": sure}),)}
        )
        for each, sure in zip(record.incidents, surest, strict=True)
    ]
    trace = TRACE.model_copy(update={"cpus": (cpu,)})
    record = record.model_copy(update={"trace": trace, "incidents": tuple(explained)})
    assert list(trace_gaps([record])) == [
        "Trial 7, CPU 1: 4,711 kernel events had no room in the trace's buffer; the trace is "
        "whole for its last 2s. Of 4 listed incidents before, 1 are explained by what else was "
        "seen, 1 by a counter that moved alone, and 2 by nothing."
    ]
    assert list(trace_gaps([record.model_copy(update={"trace": TRACE})])) == []
