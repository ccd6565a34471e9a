"""Whole runs into S3-compatible storage and back, over moto's model of it on loopback."""

import filecmp
from pathlib import Path

import pytest

from plimsoll.export.object_store import Bucket
from plimsoll.export.output_file import ExportError
from plimsoll.export.record_store import fetch_records, is_small, put_record, records_cache
from plimsoll.record.index.run_files import run_files
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.cli.runs_command import Plimsoll
from tests.unit.export.moto_store import KEY


@pytest.fixture
def bucket(endpoint: str, client: object, request: pytest.FixtureRequest) -> Bucket:
    return Bucket.of(f"s3://bench/{request.node.name}", endpoint, KEY)


def names(run: RunDirectory) -> list[str]:
    return [path.relative_to(run.path).as_posix() for path in run_files(run)]


def test_a_run_comes_back_as_it_was(run: RunDirectory, bucket: Bucket, tmp_path: Path) -> None:
    urls = put_record(run, bucket)
    assert len(urls) == len(set(urls)) == len(names(run))
    assert fetch_records(bucket, tmp_path / "back") == (run.run_id,)
    back = RunDirectory.open(tmp_path / "back" / run.run_id)
    assert names(back) == names(run)
    for name in names(run):
        assert filecmp.cmp(run.path / name, back.path / name, shallow=False), name


def test_only_what_is_taken_comes_and_nothing_twice(
    run: RunDirectory, bucket: Bucket, tmp_path: Path
) -> None:
    put_record(run, bucket)
    fetch_records(bucket, tmp_path / "back", is_small)
    back = RunDirectory.open(tmp_path / "back" / run.run_id)
    assert not back.metrics.exists()
    # What is there with its tag is left alone; what was put anew is fetched again.
    back.journal.write_bytes(b"x" * run.journal.stat().st_size)
    fetch_records(bucket, tmp_path / "back", is_small)
    assert back.journal.read_bytes().startswith(b"xxx")
    with run.journal.open("a") as journal:
        journal.write("\n")
    put_record(run, bucket)
    fetch_records(bucket, tmp_path / "back", is_small)
    assert back.journal.read_bytes() == run.journal.read_bytes()


def test_what_others_put_there_goes_nowhere(
    client: object, bucket: Bucket, tmp_path: Path, run: RunDirectory
) -> None:
    put_record(run, bucket)
    for key in (
        "records/.hidden/result.json",
        f"records/{run.run_id}/lock",
        f"records/{run.run_id}/metrics/deep/er/a.parquet",
        "run=.hidden/a.parquet",
        "notes.txt",
    ):
        client.put_object(Bucket="bench", Key=f"{bucket.prefix}/{key}", Body=b"x")  # type: ignore[attr-defined]
    assert fetch_records(bucket, tmp_path / "back") == (run.run_id,)
    assert [each.name for each in (tmp_path / "back").iterdir()] == [run.run_id]


def test_a_name_that_leads_elsewhere_is_refused(
    client: object, bucket: Bucket, tmp_path: Path
) -> None:
    key = f"{bucket.prefix}/records/../../escaped/result.json"
    client.put_object(Bucket="bench", Key=key, Body=b"x")  # type: ignore[attr-defined]
    with pytest.raises(ExportError, match="invalid path"):
        fetch_records(bucket, tmp_path / "back")
    assert not (tmp_path / "escaped").exists()


def test_a_cache_is_each_stores_own() -> None:
    environment = {"XDG_CACHE_HOME": "/cache"}
    one = records_cache(Bucket.of("s3://b/x", "https://one:9000"), environment)
    two = records_cache(Bucket.of("s3://b/x", "https://two:9000"), environment)
    assert one != two
    assert one.parent == Path("/cache/plimsoll/stores")


def test_runs_and_metrics_are_read_from_a_store(
    run: RunDirectory,
    bucket: Bucket,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As a user does it, whose runs folder is empty."""
    put_record(run, bucket)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", str(bucket.endpoint))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY.user)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY.secret)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    plimsoll = Plimsoll(monkeypatch, capsys)
    store = f"s3://bench/{bucket.prefix}"
    assert plimsoll("runs", "list", "--store", store, "--json") == 0
    assert run.run_id in plimsoll.out
    asked = ("--source", "trafficgen", "--type", "rx-pps", "--period", "all", "--output", "csv")
    assert plimsoll("metrics", "get", *asked, "--run", "2*", "--store", store) == 0, plimsoll.err
    from_store = plimsoll.out
    assert plimsoll("metrics", "get", *asked, "--run", run.path) == 0
    assert from_store == plimsoll.out
    assert from_store.count("\n") > 1
