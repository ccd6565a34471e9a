"""plimsoll export: what it writes, where, and what it says to bad input."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.cli.main import main
from plimsoll.record.index.run_notes import change_notes
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.export.exported_run import append_event, small_run
from tests.unit.export.loopback_opensearch import Store, bulk_items, serving
from tests.worded.says import Says

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDirectory:
    """A run in runs/ of the directory that the command runs in."""
    monkeypatch.chdir(tmp_path)
    for name in ("PLIMSOLL_EXPORT_USER", "PLIMSOLL_EXPORT_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    return small_run(tmp_path / "runs")


@pytest.fixture
def store() -> Iterator[Store]:
    with serving() as served:
        yield served


def export(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["plimsoll", "export", *map(str, words)])
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def test_cdm_on_standard_output_is_what_the_bulk_api_takes(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--format", "cdm", "--tag", "dut=testpmd", "--user", "Jo")
    assert export(monkeypatch, run.run_id, *words) == 0
    items = bulk_items(capsys.readouterr().out.encode())
    by_index = {index: body for index, _, body in items}
    assert by_index["cdmv8dev-tag"]["tag"]["val"] == "testpmd"
    assert by_index["cdmv8dev-run"]["run"]["name"] == "Jo"
    assert len(items) == 1 + 10 + 3 + 1 + 1 + 3 + 16 + 1


def test_csv_into_a_file_that_is_not_replaced_unasked(
    run: RunDirectory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = tmp_path / "out.csv"
    words = (run.path, "--format", "csv", "--wide", "--period", "trial-0002", "-o", target)
    assert export(monkeypatch, *words) == 0
    with target.open(newline="") as file:
        assert {row["period"] for row in csv.DictReader(file)} == {"trial-0002"}
    assert export(monkeypatch, *words) == 2
    assert "exists already" in capsys.readouterr().err
    assert export(monkeypatch, *words, "--force") == 0


@pytest.mark.parametrize(
    ("words", "periods"),
    [
        (["2"], {"trial-0002"}),
        # Nothing proved a result: the last validation is the most telling trial.
        (["measurement"], {"trial-0002"}),
        (["search"], {"trial-0001"}),
        (["validation", "1"], {"trial-0001", "trial-0002"}),
        (["all"], {"trial-0001", "trial-0002"}),
    ],
)
def test_periods_are_named_as_questions_to_metrics_name_them(
    run: RunDirectory,
    tmp_path: Path,
    words: list[str],
    periods: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number, phase in ((1, "search"), (2, "validation")):
        append_event(run, "trial-started", number=number, phase=phase)
    target = tmp_path / "out.csv"
    named = [text for word in words for text in ("--period", word)]
    assert export(monkeypatch, run.path, "--format", "csv", "-o", target, *named) == 0
    with target.open(newline="") as file:
        assert {row["period"] for row in csv.DictReader(file)} == periods


def test_parquet_into_a_folder(
    run: RunDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert export(monkeypatch, "last", "--format", "parquet", "-o", tmp_path / "lake") == 0
    files = sorted(path.name for path in (tmp_path / "lake" / f"run={run.run_id}").iterdir())
    assert files == ["trial-0001.parquet", "trial-0002.parquet"]


def test_a_run_goes_into_an_opensearch_and_again(
    run: RunDirectory,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    says: Says,
) -> None:
    assert export(monkeypatch, run.run_id, "--to", store.url, "--make-indices") == 0
    message = capsys.readouterr().err
    assert message == says("cdmv8dev-metric_data", "35", str(store.url))
    before = dict(store.documents)
    assert len(before) == 35
    assert export(monkeypatch, run.run_id, "--to", store.url) == 0
    assert store.documents == before


def test_credentials_come_from_the_environment(
    run: RunDirectory, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIMSOLL_EXPORT_USER", "jo")
    monkeypatch.setenv("PLIMSOLL_EXPORT_PASSWORD", "pass:word")
    assert export(monkeypatch, run.run_id, "--to", store.url, "--make-indices") == 0
    # printf 'jo:pass:word' | base64
    assert {request.authorization for request in store.requests} == {"Basic am86cGFzczp3b3Jk"}


def test_refused_documents_are_an_error_that_says_why(
    run: RunDirectory,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    refusal = {"type": "strict_dynamic_mapping_exception", "reason": "[cpu] is not allowed"}
    store.judge = lambda index, identity, body: (
        (400, refusal) if index.endswith("metric_desc") else (201, None)
    )
    assert export(monkeypatch, run.run_id, "--to", store.url, "--make-indices") == 6
    message = capsys.readouterr().err
    assert "it took 32 documents and refused 3: 3 metric_desc: strict_dynamic_mapping" in message
    assert "[cpu] is not allowed" in message


def test_missing_indices_are_an_error_before_anything_is_sent(
    run: RunDirectory,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert export(monkeypatch, run.run_id, "--to", store.url) == 2
    assert "--make-indices" in capsys.readouterr().err
    assert store.bulk_requests == []


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (["nowhere", "--format", "csv"], ()),
        (["last"], ("--format",)),
        (["last", "--to", "ftp://jo:hunter2@host"], ("--to", "OpenSearch")),
        (
            ["last", "--to", "https://jo:hunter2@host"],
            ("trial-0002", "--to", "PLIMSOLL_EXPORT_USER", "PLIMSOLL_EXPORT_PASSWORD"),
        ),
        (["last", "--to", "https://h", "-o", "x"], ("--output", "--to")),
        (["last", "--to", "https://h", "--format", "csv"], ("--to", "csv")),
        (["last", "--to", "s3://b", "--format", "cdm"], ("--to", "cdm")),
        (["last", "--format", "cdm", "--wide"], ("--wide", "--format")),
        (["last", "--format", "csv", "--merge"], ("--merge", "--format")),
        (["last", "--format", "csv", "--tag", "a=b"], ("--tag", "--format")),
        (["last", "--format", "cdm", "--make-indices"], ("--make-indices", "--to")),
        (["last", "--to", "s3://b", "--ca-file", "x"], ("--ca-file", "--format")),
        (["last", "--to", "https://h", "--endpoint", "x"], ("--endpoint", "--format")),
        (["last", "--format", "csv", "--credentials", "x"], ("--credentials", "--to")),
        (["last", "--format", "cdm", "--tag", "a"], ("--tag",)),
        (["last", "--format", "parquet"], ("--output", "parquet")),
        (["last", "--format", "csv", "--period", "trial-7"], ("trial-7", "--period")),
        (["last", "--format", "hlog", "--period", "soak"], ("soak", "--period")),
        (["last", "--format", "hlog", "--stream", "x"], ("x",)),
        (["last", "--format", "csv", "-o", "no/where"], ("no/where",)),
        (["last", "--to", "s3://"], ("s3://", "--to")),
        (["last", "--to", "https://h", "--credentials", "none"], ("trial-0002",)),
    ],
)
def test_bad_input_is_reported_with_its_place(
    run: RunDirectory,
    words: list[str],
    facts: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    says: Says,
) -> None:
    assert export(monkeypatch, *words) == 2
    message = capsys.readouterr().err
    assert message == says(*facts)
    assert "remedy: " in message
    assert "hunter2" not in message


def test_who_stops_reading_gets_no_traceback(run: RunDirectory) -> None:
    """As with `plimsoll export … | head`."""
    command = [sys.executable, "-m", "plimsoll.cli", "export", str(run.path), "--format", "csv"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_the_runs_own_tags_go_with_it(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    change_notes(run, lambda notes: notes.tagged({"bios": "2.19", "nic": "e810"}))
    assert export(monkeypatch, run.run_id, "--format", "cdm", "--tag", "nic=xxv710") == 0
    bodies = [body for _, _, body in bulk_items(capsys.readouterr().out.encode())]
    tags = {body["tag"]["name"]: body["tag"]["val"] for body in bodies if "tag" in body}
    assert tags == {"bios": "2.19", "nic": "xxv710"}


def test_json_is_one_document_a_line(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target = tmp_path / "run.ndjson"
    words = ("--format", "cdm", "--cdm-version", "v10dev", "-o", target)
    assert export(monkeypatch, run.run_id, *words) == 0
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    assert lines[-2]["index"]["_index"] == "cdm-v10dev-run@2026.03"
