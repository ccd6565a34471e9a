"""CDM documents: their shape is Crucible's, their figures are the record's."""

import json
import re
import uuid
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.export.cdm.document import CdmVersion, index_definition
from plimsoll.export.cdm.documents import RunDocuments, RunOwner
from plimsoll.export.cdm.run_iterations import outline_of
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.journal import journal_line, read_journal
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.export.crucible_query import documents
from tests.unit.export.exported_run import (
    BEGIN_MS,
    EXPERIMENT,
    append_event,
    append_trial,
    idle,
    of_trial,
    rx,
    small_run,
    write_metrics,
)
from tests.unit.record.trial_parts import record
from tests.worded.says import Says

# Two seconds and the drain of the first trial.
LATER_MS = 2500


def test_every_kind_is_there_as_often_as_it_should(run: RunDirectory) -> None:
    found = documents(run, tags={"dut": "testpmd"})
    assert {kind: len(all_of) for kind, all_of in found.items()} == {
        "tag": 1,
        "param": 10,
        "period": 3,
        "sample": 1,
        "iteration": 1,
        # Two ports and a CPU, in both trials the same.
        "metric_desc": 3,
        # The CPU's one row is cut where the trial stops sending.
        "metric_data": 16,
        "run": 1,
    }


def test_the_trial_that_the_result_rests_on_is_the_measurement(run: RunDirectory) -> None:
    found = documents(run)
    periods = {each["period"]["name"]: each["period"] for each in found["period"]}
    assert list(periods) == ["trial-0001", "trial-0002", "measurement"]
    times = [(each["begin"] - BEGIN_MS, each["end"] - BEGIN_MS) for each in periods.values()]
    # Not the drain; the last millisecond is part of it. The second trial, whose clock says the
    # same time, comes after the first one's drain.
    assert times == [(0, 1999), (LATER_MS, LATER_MS + 1999), (LATER_MS, LATER_MS + 1999)]
    assert len({each["period-uuid"] for each in periods.values()}) == 3
    (iteration,) = found["iteration"]
    assert iteration["iteration"]["primary-period"] == "measurement"
    assert iteration["iteration"]["primary-metric"] == "trafficgen::rx-pps"
    assert iteration["iteration"]["status"] == "pass"


def test_a_search_rests_on_what_its_result_names(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    outline = outline_of(run)
    assert outline.samples[0].primary == "trial-0002"
    append_trial(run, record(3, phase="validation", load_pps=900.0))
    write_metrics(run, "trial-0003", of_trial(900.0), period="trial-0003")
    assert outline_of(run).samples[0].primary == "trial-0003"


def test_params_have_the_names_of_crucibles_trafficgen(run: RunDirectory) -> None:
    params = {each["param"]["arg"]: each["param"]["val"] for each in documents(run)["param"]}
    assert params == {
        "dut": "testpmd-memif",
        # Of the trial's own streams: 60 bytes and FCS.
        "frame-size": "64",
        "latency-rate": "1000pps",
        "max-loss-pct": "0.002",
        "num-flows": "1024",
        "search-runtime": "5",
        "search-strategy": "binary",
        "traffic-direction": "bidirectional",
        "traffic-generator": "plimsoll",
        "validation-runtime": "60",
    }


def test_values_are_exact_and_zero_is_one(run: RunDirectory) -> None:
    found = documents(run)
    described = {
        each["metric_desc"]["metric_desc-uuid"]: each["metric_desc"]
        for each in found["metric_desc"]
    }
    values = Counter(
        (
            described[each["metric_desc"]["metric_desc-uuid"]]["type"],
            each["metric_data"]["begin"] - BEGIN_MS,
            each["metric_data"]["end"] - BEGIN_MS,
            each["metric_data"]["duration"],
            each["metric_data"]["value"],
        )
        for each in found["metric_data"]
    )
    assert values == {
        (kind, moved_ms + begin_ms, moved_ms + end_ms, end_ms - begin_ms + 1, value): count
        for moved_ms, rate in ((0, 1900.0), (LATER_MS, 1000.0))
        for kind, begin_ms, end_ms, value, count in (
            ("rx-pps", 0, 999, rate, 2),
            ("rx-pps", 1000, 1999, rate, 2),
            ("rx-pps", 2000, 2499, 0.0, 2),
            ("NonBusy-CPU", 0, 1999, 0.0, 1),
            ("NonBusy-CPU", 2000, 2499, 0.0, 1),
        )
    }


def test_an_average_over_time_is_the_rows_own(run: RunDirectory) -> None:
    """As Crucible reckons: value times duration, over the length of the period."""
    found = documents(run)
    (period,) = [p["period"] for p in found["period"] if p["period"]["name"] == "measurement"]
    rates = {
        each["metric_desc"]["metric_desc-uuid"]
        for each in found["metric_desc"]
        if each["metric_desc"]["type"] == "rx-pps"
    }
    total = sum(
        each["metric_data"]["value"] * each["metric_data"]["duration"]
        for each in found["metric_data"]
        if each["metric_desc"]["metric_desc-uuid"] in rates
        and period["begin"] <= each["metric_data"]["begin"]
        and each["metric_data"]["end"] <= period["end"]
    )
    # The other trial's 1900 pps are not among it, though the clock said the same time.
    assert total / (period["end"] - period["begin"] + 1) == 2 * 1000


def test_exporting_again_gives_the_same_bytes(run: RunDirectory) -> None:
    first, second = (
        "".join(d.lines for d in RunDocuments(run, outline_of(run), CdmVersion.V8))
        for _ in range(2)
    )
    assert first == second


def test_ids_are_uuids_of_their_own(run: RunDirectory) -> None:
    made = list(RunDocuments(run, outline_of(run), CdmVersion.V8))
    assert len({document.id for document in made}) == len(made)
    for document in made:
        if document.kind != "metric_data":
            assert uuid.UUID(document.id).version == 5
            body = json.loads(document.json)
            assert body[document.kind][f"{document.kind}-uuid"] == document.id


def test_a_run_of_another_start_has_other_ids(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    before = {document.id for document in RunDocuments(run, outline_of(run), CdmVersion.V8)}
    later = [replace(e, at_unix_ns=e.at_unix_ns + 1) for e in read_journal(run.journal).events]
    run.journal.write_text("".join(f"{journal_line(event)}\n" for event in later))
    after = {document.id for document in RunDocuments(run, outline_of(run), CdmVersion.V8)}
    assert not before & after


def test_no_one_is_named_unless_it_is_stated(run: RunDirectory) -> None:
    (body,) = documents(run)["run"]
    assert not {"name", "email"} & body["run"].keys()
    (body,) = documents(run, owner=RunOwner("Jo", "jo@example.org"))["run"]
    assert (body["run"]["name"], body["run"]["email"]) == ("Jo", "jo@example.org")


def test_the_run_comes_last_and_has_its_times(run: RunDirectory) -> None:
    *_, last = RunDocuments(run, outline_of(run), CdmVersion.V8)
    body = json.loads(last.json)["run"]
    assert last.kind == "run"
    assert (body["begin"], body["end"]) == (BEGIN_MS, BEGIN_MS + LATER_MS + 1999)
    assert (body["harness"], body["benchmark"]) == ("plimsoll", "trafficgen")


@pytest.mark.parametrize(
    ("version", "index"),
    [
        (CdmVersion.V8, "cdmv8dev-run"),
        (CdmVersion.V9, "cdm-v9dev-run@2026.03"),
        (CdmVersion.V10, "cdm-v10dev-run@2026.03"),
    ],
)
def test_indices_are_named_as_by_crucible(
    run: RunDirectory, version: CdmVersion, index: str
) -> None:
    made = RunDocuments(run, outline_of(run), version)
    assert made.indices["run"] == index
    assert {each.index for each in made} <= set(made.indices.values())
    assert all(f'"ver":"{version}"' in each.json for each in made)


def test_only_v10_says_how_series_become_one(run: RunDirectory) -> None:
    for version in (CdmVersion.V8, CdmVersion.V9):
        assert all(
            "default-aggregation" not in each["metric_desc"]
            for each in documents(run, version)["metric_desc"]
        )
    write_metrics(
        run,
        "trial-0001@host",
        [
            rx(0, 0, 1000, 1.0).__class__(
                "a", kind, {}, 0, 1000, 1.0, aggregation=kind, metric_class="count"
            )
            for kind in ("sum", "mean", "max", "min")
        ],
        period="trial-0001",
    )
    aggregations = {
        each["metric_desc"]["type"]: each["metric_desc"]["default-aggregation"]
        for each in documents(run, CdmVersion.V10)["metric_desc"]
    }
    assert aggregations["rx-pps"] == "sum"
    assert {kind: aggregations[kind] for kind in ("mean", "max", "min")} == {
        "mean": "avg",
        "max": "max",
        "min": "min",
    }


@pytest.mark.parametrize("version", CdmVersion)
def test_no_document_has_a_field_that_its_index_refuses(
    run: RunDirectory, version: CdmVersion
) -> None:
    made = RunDocuments(run, outline_of(run), version, owner=RunOwner("a", "b"), tags={"c": "d"})
    for document in made:
        definition = index_definition(document.kind, version)["mappings"]
        assert definition["dynamic"] == "strict"
        assert unknown_fields(json.loads(document.json), definition["properties"]) == []


def unknown_fields(body: dict[str, Any], properties: dict[str, Any]) -> list[str]:
    found = []
    for name, value in body.items():
        if name not in properties:
            found.append(name)
        elif isinstance(value, dict):
            found += unknown_fields(value, properties[name]["properties"])
    return found


def test_crucibles_add_run_finds_index_and_kind_in_an_action(run: RunDirectory) -> None:
    """It reads actions with these two expressions (CommonDataModel's add-run-worker.js)."""
    for document in RunDocuments(run, outline_of(run), CdmVersion.V10):
        action = document.lines.split("\n")[0]
        counted = re.search(r'.+_index":\s+"cdm(-){0,1}v\d+dev-([^@]+)', action)
        assert counted is not None
        assert counted[2] == document.kind
        index = json.loads(action)["index"]["_index"]
        assert re.fullmatch(r"cdm-*(v8dev|v9dev|v10dev)-([^@]+)(@\d\d\d\d\.\d\d)*", index)


def test_what_neither_time_nor_json_can_say_is_left_out(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    before = len(documents(run)["metric_data"])
    rows = [idle(2500, 2500, 1.0), idle(2500, 2600, float("inf")), idle(2600, 2700, 0.25)]
    write_metrics(run, "trial-0002@dut", rows, period="trial-0002")
    found = documents(run)["metric_data"]
    assert len(found) == before + 1
    assert RunDocuments(run, outline_of(run), CdmVersion.V8).count == (
        sum(map(len, documents(run).values())) - len(documents(run)["metric_desc"])
    )


def test_frames_of_another_size_are_another_iteration(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    other = record(3, load_pps=500.0)
    sizes = tuple(each.model_copy(update={"size": 1518}) for each in other.streams[0].frame_sizes)
    streams = tuple(each.model_copy(update={"frame_sizes": sizes}) for each in other.streams)
    append_trial(run, other.model_copy(update={"streams": streams}))
    write_metrics(run, "trial-0003", of_trial(500.0), period="trial-0003")
    iterations = outline_of(run).iterations
    assert [dict(each.params)["frame-size"] for each in iterations] == ["64", "1518"]
    assert [each.samples[0].primary for each in iterations] == ["trial-0002", "trial-0003"]
    # One trial, one load: that is a parameter.
    assert dict(iterations[1].params)["rate"] == "500"


def test_a_warm_up_belongs_to_what_it_warms_up_for(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", EXPERIMENT)
    append_event(run, "run-started", method="rfc2544")
    for number, phase, step in (
        (1, "warmup", None),
        (2, "search", "throughput/64"),
        (3, "latency", "latency/64/1"),
        (4, "latency", "latency/64/2"),
    ):
        trial = record(number, phase=phase, verdict="none" if step is None else "pass")  # type: ignore[arg-type]
        append_trial(run, trial.model_copy(update={"step": step}))
        write_metrics(run, f"trial-{number:04}", of_trial(1.0), period=f"trial-{number:04}")
    periods = [
        (dict(each.params)["test"], [period.name for period in each.samples[0].periods])
        for each in outline_of(run).iterations
    ]
    assert periods == [
        ("throughput", ["trial-0001", "trial-0002"]),
        ("latency", ["trial-0003", "trial-0004"]),
    ]


def test_a_trial_that_was_cut_short_keeps_its_period(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    write_metrics(run, "trial-0003", of_trial(1.0), period="trial-0003")
    (sample,) = outline_of(run).samples
    period = sample.periods[-1]
    assert (period.name, period.end_ms - period.begin_ms) == ("trial-0003", 2500)
    assert sample.primary == "trial-0002"


def test_a_run_in_its_first_trial_has_no_measurement_yet(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", EXPERIMENT)
    append_event(run, "run-started", method="trial")
    write_metrics(run, "trial-0001", of_trial(1.0), period="trial-0001")
    found = documents(run)
    assert [each["period"]["name"] for each in found["period"]] == ["trial-0001"]
    assert found["sample"][0]["sample"]["status"] == "fail"


def test_every_run_of_a_matrix_is_a_sample_of_its_iteration(tmp_path: Path) -> None:
    matrix = RunDirectory.create(tmp_path, "sizes", EXPERIMENT)
    append_event(matrix, "run-started", method="matrix")
    combinations = [
        {"number": number, "params": {"profile.streams[load].frame_size": size}}
        for number, size in ((1, 64), (2, 512))
    ]
    (matrix.path / "matrix.json").write_text(json.dumps({"iterations": combinations}))
    for place in ("iteration-0001/sample-1", "iteration-0001/sample-2", "iteration-0002/sample-1"):
        within = RunDirectory.within(matrix.path / place, EXPERIMENT)
        append_event(within, "run-started", method="trial")
        append_trial(within, record(1, phase="validation"))
        write_metrics(within, "trial-0001", of_trial(1.0), period="trial-0001")
    found = documents(matrix)
    samples = [
        (each["iteration"]["num"], each["sample"]["num"], each["sample"]["status"])
        for each in found["sample"]
    ]
    assert samples == [(1, 1, "pass"), (1, 2, "pass"), (2, 1, "pass")]
    varied = [
        (each["iteration"]["num"], each["param"]["val"])
        for each in found["param"]
        if each["param"]["arg"] == "profile.streams[load].frame_size"
    ]
    assert varied == [(1, "64"), (2, "512")]
    # Alike as they are, none of them takes another's place.
    made = list(RunDocuments(matrix, outline_of(matrix), CdmVersion.V8))
    assert len({document.id for document in made}) == len(made)
    assert len(found["metric_data"]) == 3 * 8
    assert len(found["metric_desc"]) == 3


def test_a_run_without_metrics_is_reported(tmp_path: Path, says: Says) -> None:
    run = RunDirectory.create(tmp_path, "demo", EXPERIMENT)
    with pytest.raises(RecordError) as raised:
        outline_of(run)
    assert raised.value == says()
    assert raised.value.where == str(run.path)


def test_a_period_that_is_not_there_is_reported_with_those_that_are(
    run: RunDirectory, says: Says
) -> None:
    with pytest.raises(InputError) as raised:
        outline_of(run, ["trial-0009"])
    assert raised.value == says("trial-0009", "trial-0001", "trial-0002")
    assert raised.value.where == "--period"


def test_only_the_periods_requested_are_made(run: RunDirectory) -> None:
    made = RunDocuments(run, outline_of(run, ["trial-0001"]), CdmVersion.V8)
    names = {json.loads(each.json)["period"]["name"] for each in made if each.kind == "period"}
    assert names == {"trial-0001", "measurement"}
    assert sum(each.kind == "metric_data" for each in made) == 8


def test_a_damaged_matrix_is_reported(tmp_path: Path, says: Says) -> None:
    matrix = RunDirectory.create(tmp_path, "sizes", EXPERIMENT)
    append_event(matrix, "run-started", method="matrix")
    with pytest.raises(RecordError) as raised:
        outline_of(matrix)
    assert raised.value == says()
    assert raised.value.where.endswith("matrix.json")
