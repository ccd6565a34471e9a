"""Opening one run and many, sound and damaged."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import plimsoll
import plimsoll.errors
from plimsoll.errors import InputError
from plimsoll.record.index.run_notes import change_notes
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.analysis.handmade import finished_run, killed_run
from tests.worded.says import Says, passage


def test_a_run_is_opened_by_path_id_beginning_and_as_the_last(runs: Path) -> None:
    run = finished_run(runs)
    ids = [run.run_id, run.run_id[:12], "last"]
    assert plimsoll.open(run.path).id == run.run_id
    assert [plimsoll.open(each, runs=runs).path for each in ids] == [run.path] * 3


def test_runs_are_looked_for_below_the_folder_runs(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = finished_run(runs)
    monkeypatch.chdir(runs.parent)
    assert plimsoll.open(run.run_id).load_line_pps == 500.0
    assert plimsoll.open(f"runs/{run.run_id}").id == run.run_id
    assert [each.id for each in plimsoll.open_all()] == [run.run_id]


def test_an_unknown_run_is_reported_with_what_there_is_to_do(runs: Path, says: Says) -> None:
    finished_run(runs)
    with pytest.raises(InputError) as caught:
        plimsoll.open("nine", runs=runs)
    assert caught.value == says("plimsoll runs", "nine")
    assert caught.value.where == "nine"
    assert "plimsoll runs" in caught.value.remedy


def test_a_folder_that_is_no_run_is_reported(tmp_path: Path, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        plimsoll.open(tmp_path)
    assert caught.value == says("plimsoll run", "journal.jsonl")


def test_damaged_runs_are_reported_and_the_rest_opened(runs: Path) -> None:
    sound = finished_run(runs)
    broken = finished_run(runs)
    broken.journal.write_text("{}\nno journal\n")
    half = RunDirectory(runs / "20260101T000000-half")
    half.path.mkdir()
    with pytest.warns(UserWarning, match="2 damaged and left out") as warned:
        opened = plimsoll.open_all(runs)
    assert warned[0].filename == __file__
    assert [run.id for run in opened] == [sound.run_id]
    assert {run.id for run in opened.damaged} == {half.run_id, broken.run_id}
    reasons = {run.id: run.damage for run in opened.damaged}
    assert "line 1 is damaged" in reasons[broken.run_id][0]
    assert "journal.jsonl" in reasons[broken.run_id][0]
    assert half.run_id in repr(opened)
    assert half.run_id in opened._repr_html_()


def test_a_damaged_run_shows_itself_and_says_why_where_it_is_queried(
    runs: Path, says: Says
) -> None:
    run = finished_run(runs)
    run.journal.write_text("{}\nno journal\n")
    opened = plimsoll.open(run.path)
    assert opened.state == "damaged"
    assert repr(opened) == says("1", "damaged", "plimsoll runs")
    assert passage(opened._repr_html_(), "1", "damaged") == says()
    with pytest.raises(plimsoll.errors.PlimsollError) as caught:
        _ = opened.load_line_pps
    assert caught.value == says("1", "damaged", "plimsoll runs")


def test_many_runs_are_named_by_a_pattern_or_one_by_one(runs: Path) -> None:
    ids = sorted(finished_run(runs, name).run_id for name in ("one", "two", "three"))
    assert [run.id for run in plimsoll.open_all(runs)] == ids
    assert {run.name for run in plimsoll.open_all(f"{runs}/*-t*")} == {"two", "three"}
    listed = plimsoll.open_all([runs / ids[2], str(runs / ids[0])])
    assert [run.id for run in listed] == [ids[2], ids[0]]


def test_runs_of_the_same_name_are_distinguished_by_their_paths(runs: Path) -> None:
    first = finished_run(runs / "here")
    second = runs / "there" / first.run_id
    shutil.copytree(first.path, second)
    opened = plimsoll.open_all([first.path, second])
    assert [run.id for run in opened] == [str(first.path), str(second)]
    rows = opened.metrics("trafficgen", "rx-pps").rows()
    assert [row["run"] for row in rows] == [str(first.path), str(second)]


def test_the_runs_of_a_matrix_are_among_them_when_requested(runs: Path) -> None:
    matrix = finished_run(runs, "matrix")
    parts = []
    for iteration in ("iteration-0001", "iteration-0002"):
        part = finished_run(matrix.path / iteration)
        part.path.rename(part.path.with_name("sample-1"))
        parts.append(f"{matrix.run_id}/{iteration}/sample-1")
    assert [run.id for run in plimsoll.open_all(runs)] == [matrix.run_id]
    opened = plimsoll.open_all(runs, parts=True)
    assert [run.id for run in opened] == [matrix.run_id, *parts]
    # Both directories are called sample-1.
    rows = opened.metrics("trafficgen", "rx-pps").rows()
    assert [row["run"] for row in rows] == [matrix.run_id, *parts]


def test_one_run_is_no_folder_of_runs(runs: Path, says: Says) -> None:
    run = finished_run(runs)
    with pytest.raises(InputError) as caught:
        plimsoll.open_all(run.path)
    assert caught.value == says("plimsoll.open")


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        plimsoll.open_all(tmp_path / "nowhere")
    assert caught.value == says("nowhere")


def test_opening_many_reads_no_journal_whose_summary_is_kept(runs: Path) -> None:
    run = finished_run(runs)
    plimsoll.open_all(runs)
    stamp = run.journal.stat()
    # The same length and time, so that the summary still fits it: whoever reads it falls over.
    run.journal.write_bytes(b"\xff" * stamp.st_size)
    os.utime(run.journal, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    (opened,) = plimsoll.open_all(runs)
    assert opened.load_line_pps == 500.0


def test_many_runs_become_a_table_with_their_tags(runs: Path) -> None:
    first, second = finished_run(runs, "a"), killed_run(runs)
    change_notes(first, lambda notes: notes.tagged({"release": "1.0", "dut": "ovs"}))
    table = plimsoll.open_all(runs).table()
    rows = {row["run"]: row for row in table.rows()}
    assert table.columns[-2:] == ("tag.dut", "tag.release")
    assert (rows[first.run_id]["tag.release"], rows[second.run_id]["tag.release"]) == ("1.0", None)
    assert rows[first.run_id]["load_line_pps"] == 500.0
    assert rows[first.run_id]["dut"] == "testpmd-memif"
    assert (rows[second.run_id]["state"], rows[second.run_id]["load_line_pps"]) == ("stopped", None)
    assert rows[second.run_id]["trials"] == 1


def test_runs_are_chosen_as_on_the_command_line(runs: Path) -> None:
    first, second = finished_run(runs, "a"), killed_run(runs)
    change_notes(first, lambda notes: notes.tagged({"release": "1.0"}))
    opened = plimsoll.open_all(runs)

    def ids(**pattern: object) -> list[str]:
        return [run.id for run in opened.where(**pattern)]

    assert ids(tags={"release": "1.0"}) == ids(tags={"release": None}) == [first.run_id]
    assert ids(tags={"release": "2.0"}) == []
    assert ids(state="stopped") == [second.run_id]
    assert ids(verdict=["pass", "fail"]) == [first.run_id]
    assert ids(name="*kill*") == [second.run_id]
    assert ids(dut="testpmd-memif", method="load-line") == [first.run_id]
    assert ids(until="2026-01-01T00:00:00Z") == []
    assert len(ids(since="2026-01-01T00:00:00Z")) == 2
    assert [run.id for run in opened.that(lambda run: run.load_line_pps is None)] == [second.run_id]


def test_a_slice_of_runs_is_runs(runs: Path) -> None:
    ids = sorted(finished_run(runs, name).run_id for name in ("one", "two"))
    opened = plimsoll.open_all(runs)
    assert [run.id for run in opened[:1]] == ids[:1]
    assert opened[-1].id == ids[1]


def test_importing_plimsoll_imports_nothing_heavy() -> None:
    code = (
        "import sys, json, plimsoll; "
        "print(json.dumps([m for m in sys.modules if m.split('.')[0] in "
        "('duckdb', 'pydantic', 'hdrh', 'yaml', 'pandas', 'polars', 'pyarrow', 'numpy') "
        "or m.startswith('plimsoll.')]))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert json.loads(said) == ["plimsoll.version"]


def test_opening_and_looking_imports_no_analysis_library(runs: Path) -> None:
    run = finished_run(runs)
    code = (
        "import sys, plimsoll; run = plimsoll.open(sys.argv[1]); "
        "run._repr_html_(), run.trials._repr_html_(), run.rows()._repr_html_(), "
        "run.rows().rows(), run.proof.latency()._repr_html_(); "
        "print([m for m in ('pandas', 'polars', 'pyarrow') if m in sys.modules])"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, str(run.path)], capture_output=True, text=True, check=True
    ).stdout
    assert said == "[]\n"
