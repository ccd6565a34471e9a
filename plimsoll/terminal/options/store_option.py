"""Runs in object storage, brought here as far as a command reads them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.errors import InputError
from plimsoll.export.object_store import Bucket
from plimsoll.export.record_store import fetch_records, is_small, records_cache

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="s3://BUCKET/PREFIX",
        help="Runs in object storage instead, at AWS_ENDPOINT_URL or AWS; what is read of them "
        "is kept in the user's cache.",
    ),
]


def listed_runs(runs: Path, store: str | None) -> Path:
    """The folder of the runs: as given, or the store's, with what lists and results read.

    Raises InputError, MachineError and ExportError.
    """
    if store is None:
        return runs
    bucket = _bucket(store)
    folder = records_cache(bucket)
    fetch_records(bucket, folder, is_small)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def bring_whole(store: str | None, runs: Collection[str]) -> None:
    """Bring all of these runs, by id, out of the store, if there is one."""
    if store is not None:
        bucket = _bucket(store)
        fetch_records(bucket, records_cache(bucket), lambda each: each.run in runs)


def _bucket(store: str) -> Bucket:
    try:
        return Bucket.of(store)
    except InputError as error:
        raise InputError(
            error.message, where="--store", remedy="write --store s3://bucket/prefix"
        ) from None
