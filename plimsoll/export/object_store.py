"""Parquet into object storage that speaks S3's protocol: AWS, MinIO, Ceph, and others.

By obstore, a binding of Apache Arrow's object_store: one wheel without dependencies, uploads in
parts, retries. It is an extra, as most never need it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from plimsoll.errors import InputError, MachineError
from plimsoll.export.credentials import Credentials
from plimsoll.export.export_error import ExportError
from plimsoll.export.metric_batches import RecordedPeriod
from plimsoll.export.parquet_parts import parquet_parts, partition
from plimsoll.record.run.run_directory import RunDirectory

if TYPE_CHECKING:
    from obstore.store import S3Store

ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL"
_MOST_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where to: a bucket and a prefix of keys, without slashes at its ends.

    `endpoint` is the server's URL; None leaves it to AWS_ENDPOINT_URL, and to AWS.
    """

    name: str
    prefix: str
    endpoint: str | None = None
    credentials: Credentials | None = None

    @classmethod
    def of(
        cls, url: str, endpoint: str | None = None, credentials: Credentials | None = None
    ) -> Bucket:
        """The bucket that `s3://bucket/prefix` names. Raises InputError."""
        try:
            parts = urlsplit(url)
        except ValueError as error:
            raise _bad_url(url) from error
        plain = not (parts.query or parts.fragment or "@" in parts.netloc or ":" in parts.netloc)
        if parts.scheme != "s3" or not parts.netloc or not plain:
            raise _bad_url(url)
        if endpoint is not None and urlsplit(endpoint).scheme not in ("http", "https"):
            raise InputError(
                f"{endpoint!r} is not a valid URL",
                where="--endpoint",
                remedy="write https://host:port",
            )
        return cls(parts.netloc, parts.path.strip("/"), endpoint, credentials)

    def url(self, key: str) -> str:
        """The URL of an object."""
        return f"s3://{self.name}/{key}"


def put_parts(
    run: RunDirectory,
    periods: Sequence[RecordedPeriod],
    bucket: Bucket,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[str, ...]:
    """Put the Parquet files of these periods there, and return their URLs.

    Each object is there as a whole or not at all, and replaces an earlier one of the same
    key. `progress` is called with each URL. Raises MachineError without obstore, ExportError where
    the storage does not take them, and RecordError.
    """
    store = opened(bucket)
    keys = []
    with parquet_parts(run, periods) as parts:
        for part in parts:
            key = "/".join(filter(None, [bucket.prefix, partition(run), part.name]))
            put_file(store, bucket, key, part)
            progress(bucket.url(key))
            keys.append(bucket.url(key))
    return tuple(keys)


def opened(bucket: Bucket) -> S3Store:
    """The bucket, ready for requests. Raises MachineError without obstore, and ExportError."""
    try:
        from obstore.exceptions import BaseError  # noqa: PLC0415
        from obstore.store import S3Store  # noqa: PLC0415
    except ImportError as error:
        raise MachineError(
            "object storage needs the Python package obstore",
            where="--to",
            remedy="pip install 'plimsoll[s3]'",
        ) from error
    settings: dict[str, Any] = {}
    if endpoint := bucket.endpoint or os.environ.get(ENDPOINT_VARIABLE):
        settings["endpoint"] = endpoint
        settings["client_options"] = {"allow_http": endpoint.startswith("http://")}
    if bucket.credentials is not None:
        settings["access_key_id"] = bucket.credentials.user
        settings["secret_access_key"] = bucket.credentials.secret
    try:
        return S3Store(bucket.name, **settings)
    except BaseError as error:
        raise _not_taken(bucket, bucket.name, error) from error


def put_file(store: S3Store, bucket: Bucket, key: str, path: Path) -> None:
    """Put one file there as a whole. Raises ExportError."""
    with storage_error(bucket, bucket.url(key)):
        store.put(key, path)


@contextmanager
def storage_error(bucket: Bucket, where: str) -> Iterator[None]:
    """What the storage refuses within, as an ExportError."""
    from obstore.exceptions import BaseError  # noqa: PLC0415

    try:
        yield
    except (BaseError, OSError) as error:
        raise _not_taken(bucket, where, error) from error


def _not_taken(bucket: Bucket, where: str, error: Exception) -> ExportError:
    message = " ".join(str(error).split())[:_MOST_CHARACTERS]
    return ExportError(
        f"the storage did not take it: {message}",
        where=where,
        remedy="see to the bucket, its endpoint (--endpoint) and the access key "
        "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or --credentials)",
    )


def _bad_url(url: str) -> InputError:
    return InputError(
        f"{url!r} names no bucket", where="--to", remedy="write --to s3://bucket/prefix"
    )
