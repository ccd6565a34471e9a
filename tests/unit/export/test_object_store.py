"""Parquet into S3-compatible storage: moto's model of it, by its real protocol on loopback."""

import sys

import duckdb
import pytest
from obstore.fsspec import FsspecStore
from obstore.store import S3Store

from plimsoll.errors import InputError, MachineError
from plimsoll.export.object_store import Bucket, put_parts
from plimsoll.export.output_file import ExportError
from plimsoll.export.parquet_parts import periods_to_export
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.export.moto_store import KEY
from tests.worded.says import Says


@pytest.fixture
def bucket(endpoint: str, client: object) -> Bucket:
    return Bucket.of("s3://bench/lab/one/", endpoint, KEY)


def test_duckdb_reads_back_what_was_put(run: RunDirectory, bucket: Bucket) -> None:
    messages: list[str] = []
    urls = put_parts(run, periods_to_export(run), bucket, messages.append)
    folder = f"s3://bench/lab/one/run={run.run_id}"
    assert list(urls) == messages == [f"{folder}/trial-{n:04}.parquet" for n in (1, 2)]
    # As docs/interchange.md shows it.
    access = {
        "endpoint": bucket.endpoint,
        "access_key_id": KEY.user,
        "secret_access_key": KEY.secret,
        "client_options": {"allow_http": True},
    }
    store = S3Store("bench", prefix="lab/one", **access)
    files = [
        f"s3://bench/lab/one/{each['path']}"
        for batch in store.list()
        for each in batch
        if each["path"].endswith(".parquet")
    ]
    with duckdb.connect() as connection:
        connection.register_filesystem(FsspecStore("s3", **access))
        found = connection.execute(
            "SELECT run, count(*), sum(count) FROM read_parquet(?, hive_partitioning = true) "
            "GROUP BY run",
            [files],
        ).fetchall()
    assert found == [(run.run_id, 14, 4 * (1900 + 1000))]


def test_putting_again_replaces(run: RunDirectory, bucket: Bucket) -> None:
    periods = periods_to_export(run)
    assert put_parts(run, periods, bucket) == put_parts(run, periods, bucket)


def test_a_bucket_that_is_not_there_is_reported(run: RunDirectory, endpoint: str) -> None:
    with pytest.raises(ExportError, match=r"the storage did not take it: .*NoSuchBucket") as raised:
        put_parts(run, periods_to_export(run), Bucket.of("s3://nowhere/x", endpoint, KEY))
    assert raised.value.where.startswith("s3://nowhere/x/run=")
    assert "AWS_ACCESS_KEY_ID" in raised.value.remedy


def test_without_obstore_it_says_what_to_install(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setitem(sys.modules, "obstore.exceptions", None)
    with pytest.raises(MachineError) as raised:
        put_parts(run, periods_to_export(run), Bucket("bench", ""))
    assert raised.value == says("obstore")
    assert raised.value.remedy.endswith("build EXTRAS=s3")


@pytest.mark.parametrize(
    "url", ["s3://", "s3:///x", "s3:bench", "s3://id:secret@bench/x", "s3://b?a=b", "s3://[", "x"]
)
def test_a_url_without_a_bucket_is_reported(url: str, says: Says) -> None:
    with pytest.raises(InputError) as raised:
        Bucket.of(url)
    assert raised.value == says("bucket")
    assert raised.value.remedy == "write --to s3://bucket/prefix"


def test_an_endpoint_that_is_no_url_is_reported(says: Says) -> None:
    with pytest.raises(InputError) as raised:
        Bucket.of("s3://b", "minio:9000")
    assert raised.value == says("minio:9000")
    assert raised.value.where == "--endpoint"
