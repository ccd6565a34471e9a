"""Whole runs in object storage, and back: what `plimsoll runs --store` lists.

Below a prefix, `records/<run id>/<file>` holds a run's files as they lie in its directory, and
`run=<run id>/<part>.parquet` its metrics (parquet_parts.py), for anybody's DuckDB. The one is not
kept in the other: the parts of a table lie together, and a run's spikes are another table.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll.export.object_store import Bucket, OpenBucket, opened, put_parts
from plimsoll.export.parquet_parts import partition, periods_to_export
from plimsoll.record.files.record_error import write_failed
from plimsoll.record.index.run_files import is_run_file, run_files
from plimsoll.record.run.run_directory import RunDirectory

_RECORDS = "records"
_METRICS = "metrics/"
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}", re.ASCII)
_PART = re.compile(r"run=([^/]+)/([^/]+\.parquet)")
_BLOCK_BYTES = 1 << 20


def stored_id(run: RunDirectory) -> str:
    """What a run is called in a store: its id, of a matrix's sample with the matrix's."""
    return partition(run).removeprefix("run=")


def put_record(
    run: RunDirectory, bucket: Bucket, progress: Callable[[str], None] = lambda _: None
) -> tuple[str, ...]:
    """Put a run there, its metrics first and its result last; the URLs.

    Raises MachineError without obstore, ExportError and RecordError.
    """
    urls = list(put_parts(run, periods_to_export(run), bucket, progress))
    files = [(path.relative_to(run.path).as_posix(), path) for path in run_files(run)]
    rest = [each for each in files if not each[0].startswith(_METRICS)]
    with opened(bucket) as there:
        # Whoever sees a result finds the rest there.
        for name, path in sorted(rest, key=lambda each: each[0] == run.result.name):
            key = "/".join(filter(None, [bucket.prefix, _RECORDS, stored_id(run), name]))
            there.put_file(key, path)
            progress(bucket.url(key))
            urls.append(bucket.url(key))
    return tuple(urls)


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object of a run: its key, its size, and the path in a run directory that it is of."""

    run: str
    name: str
    key: str
    size: int
    e_tag: str


def stored_objects(bucket: Bucket) -> Iterator[StoredObject]:
    """What of runs lies there. Raises MachineError and ExportError."""
    with opened(bucket) as there:
        yield from _stored_objects(there)


def _stored_objects(there: OpenBucket) -> Iterator[StoredObject]:
    prefix = there.bucket.prefix
    root = f"{prefix}/" if prefix else ""
    with there.errors(there.bucket.name):
        for batch in there.store.list(prefix=prefix or None):
            for each in batch:
                key = str(each["path"])
                found = _named(key.removeprefix(root))
                # What lies there is anybody's.
                if key.startswith(root) and found is not None and _is_sound(*found):
                    size, e_tag = int(each["size"]), str(each.get("e_tag") or "")
                    yield StoredObject(*found, key, size, e_tag)


def fetch_records(
    bucket: Bucket,
    folder: Path,
    take: Callable[[StoredObject], bool] = lambda _: True,
    directory: Callable[[str], Path | None] | None = None,
) -> tuple[str, ...]:
    """Bring the objects that `take` takes into run directories below `folder`; the runs' ids.

    What is there with the same tag is not fetched again. `directory` says for a run's id where
    it goes instead, None for nowhere. Raises MachineError, ExportError and RecordError.
    """
    runs: dict[str, None] = {}
    with opened(bucket) as there:
        for each in _stored_objects(there):
            target = folder / each.run if directory is None else directory(each.run)
            if target is None or not take(each):
                continue
            runs[each.run] = None
            if not _is_there(target / each.name, each):
                _fetch(there, each, target / each.name)
    return tuple(runs)


def is_small(each: StoredObject) -> bool:
    """Whether it is not one of the metrics, histograms and charts: what a list of runs reads."""
    return not each.name.startswith(
        (_METRICS, "charts/", "causes/", "flows/", "histograms", "report")
    )


def _named(key: str) -> tuple[str, str] | None:
    """The run and the file in its directory that a key stands for."""
    if (part := _PART.fullmatch(key)) is not None:
        return part[1], f"{_METRICS}{part[2]}"
    kind, _, rest = key.partition("/")
    run, slash, name = rest.partition("/")
    return (run, name) if kind == _RECORDS and slash else None


def _is_sound(run: str, name: str) -> bool:
    return _RUN.fullmatch(run) is not None and is_run_file(name)


def _is_there(path: Path, each: StoredObject) -> bool:
    try:
        return path.stat().st_size == each.size and _tag_file(path).read_text() == each.e_tag
    except OSError:
        return False


def _tag_file(path: Path) -> Path:
    return path.with_name(f".{path.name}.etag")


def _fetch(there: OpenBucket, each: StoredObject, path: Path) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with there.errors(there.bucket.url(each.key)), unfinished.open("wb") as file:
            for block in there.store.get(each.key).stream(min_chunk_size=_BLOCK_BYTES):
                file.write(block)
        unfinished.replace(path)
        _tag_file(path).write_text(each.e_tag)
    except OSError as error:
        raise write_failed(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()


def records_cache(bucket: Bucket, environment: Mapping[str, str] = os.environ) -> Path:
    """Where runs of this store are kept here: $XDG_CACHE_HOME/plimsoll/stores/…."""
    root = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    place = f"{bucket.endpoint or ''}/{bucket.name}/{bucket.prefix}"
    plain = re.sub(r"[^A-Za-z0-9.-]+", "_", place).strip("_")
    return root / "plimsoll" / "stores" / plain
