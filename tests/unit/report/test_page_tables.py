"""The tables of a page as files: names that stay, and numbers in the units that they name."""

import csv
import re
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv

from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import page_files, write_files, write_report
from plimsoll.report.figures.table import Cell, ReportColumn, ReportTable, count, ns_between, text
from plimsoll.report.parts.headline import Headline
from plimsoll.report.parts.page import Page

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@pytest.fixture
def files(finished_run: RunDirectory) -> dict[str, Path]:
    return {path.stem: path for path in write_files(finished_run, charts=False, tables=True)[1:]}


def test_every_table_of_a_report_is_a_file(
    finished_run: RunDirectory, files: dict[str, Path]
) -> None:
    assert len(files) == write_report(finished_run).read_text().count("<table")


def test_their_names_are_the_same_for_every_run(files: dict[str, Path]) -> None:
    named = {name for name in files if not re.search(r"\d", name)}
    assert {"trials", "criteria", "checks", "latency", "lateness", "frames"} <= named
    assert {"trial-1-streams", "trial-14-findings"} <= files.keys()
    for path in files.values():
        with path.open(newline="") as file:
            columns = next(csv.reader(file))
        assert len(columns) == len(set(columns)), path.name
        assert all(map(_NAME.fullmatch, columns)), (path.name, columns)


def test_another_reader_takes_figures_for_numbers(
    finished_run: RunDirectory, files: dict[str, Path]
) -> None:
    read = arrow_csv.read_csv(files["trials"])
    trials = read_journal(finished_run.journal).trials()
    assert read.column("trial").to_pylist() == [trial.number for trial in trials]
    assert read.column("load_pps").to_pylist() == [trial.load_pps for trial in trials]
    assert read.column("sending_s").to_pylist() == [trial.sending_s for trial in trials]
    for name in ("load_pps", "offered_pps", "sending_s", "loss_ratio", "p99_ns"):
        kind = read.schema.field(name).type
        assert pa.types.is_integer(kind) or pa.types.is_floating(kind), name


def test_latencies_have_both_ends(finished_run: RunDirectory, files: dict[str, Path]) -> None:
    read = arrow_csv.read_csv(files["trial-1-streams"]).to_pylist()
    streams = {each.name: each for each in read_journal(finished_run.journal).trials()[0].streams}
    for row in read:
        low, high = streams[row["stream"]].latency_ends
        assert (row["p99_at_least_ns"], row["p99_ns"]) == (low.p99_ns, high.p99_ns)


def written(tables: list[ReportTable], folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """These tables as the files of a run's page."""
    monkeypatch.setattr(page_files, "load_head", lambda _: None)
    monkeypatch.setattr(page_files, "write_report", lambda run, _: run.report)
    monkeypatch.setattr(page_files, "make_page", lambda *_: made)
    made = Page("", Headline("Answer", "none", ""), (), (), {"tables": tables})
    return write_files(RunDirectory(folder), charts=False, tables=True)[1:]


def test_text_that_a_spreadsheet_would_compute_is_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (("=1+1", -5), ("b", None))
    table = ReportTable("hostile", (text("=name", "Name"), count("frames", "Frames")), rows)
    (path,) = written([table], tmp_path, monkeypatch)
    assert path.read_text() == "'=name,frames\n'=1+1,-5\nb,\n"


def test_tables_of_one_name_are_all_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [ReportTable("hosts", (text("host", "Host"),), ((host,),)) for host in ("a", "b")]
    names = [path.name for path in written(tables, tmp_path, monkeypatch)]
    assert names == ["hosts.csv", "hosts-2.csv"]


def test_what_is_shown_is_made_of_what_is_filed() -> None:
    columns = (
        text("stream", "Stream"),
        ns_between("p99_ns", "p99"),
        ReportColumn(("lost", "loss_ratio"), "Lost"),
        count("hidden", ""),
    )
    table = ReportTable(
        "t",
        columns,
        (("a", Cell((2_900_000.0, 9_000_000.0)), Cell((5, 0.5), "5 (50 %)"), None),),
    )
    (record,) = table.records()
    assert record == {
        "stream": "a",
        "p99_at_least_ns": 2_900_000.0,
        "p99_ns": 9_000_000.0,
        "lost": 5,
        "loss_ratio": 0.5,
        "hidden": None,
    }
    headings, (row,) = table.words("p99_ns", "loss_ratio", "hidden")
    assert headings == ("p99", "Lost", "")
    assert row == ("2.9 ms to 9 ms", "5 (50 %)", "-")
