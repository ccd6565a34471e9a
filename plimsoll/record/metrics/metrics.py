"""The metrics of a run: appended as they happen, Parquet files of each period in the end."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from plimsoll.host.ledger.scratch import scratch_folder
from plimsoll.record.files.growing_files import AppendFile, Closeable
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.files.table_file import TableSchema
from plimsoll.record.metrics.metric_log import is_head
from plimsoll.record.run.file_check import intact_paths, require_intact_paths
from plimsoll.record.run.listed_files import listed_in
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.plain_text import plain_name


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A value over [begin_ms, end_ms) since the epoch. `names` are its breakout dimensions.

    `monotonic_ms` is the end on the CLOCK_MONOTONIC of the host that measured it. `count`
    is the whole number behind the value of a counted metric, None for others.
    """

    period: str
    source: str
    type: str
    metric_class: str
    unit: str
    aggregation: str
    names: Mapping[str, str]
    begin_ms: int
    end_ms: int
    monotonic_ms: int
    count: int | None
    value: float


METRICS = TableSchema(
    {
        "period": "VARCHAR",
        "source": "VARCHAR",
        "type": "VARCHAR",
        "class": "VARCHAR",
        "unit": "VARCHAR",
        "aggregation": "VARCHAR",
        "names": "MAP(VARCHAR, VARCHAR)",
        "begin_ms": "BIGINT",
        "end_ms": "BIGINT",
        "monotonic_ms": "BIGINT",
        "count": "BIGINT",
        "value": "DOUBLE",
    },
    sorted_by="source, type, names_json, begin_ms",
    growing=(files("plimsoll.record.metrics") / "growing_metrics.sql").read_text(encoding="utf-8"),
    # The names as text, in order: millions of rows are grouped by it in the time that
    # reading their maps alone would take (benchmarks/metrics/query.py).
    hidden=("names_json",),
)
_READINGS = 5
# Between the period and the host, in the names of files that observers wrote.
_MEASURED_BY = "@"
_TRIAL_PERIOD = re.compile(r"trial-([0-9]{4,9})")
T = TypeVar("T")


class MetricsWriter(Closeable):
    """Writes what one host or generator measures in a period, as lines of a MetricLog.

    `finish` turns them into `metrics/<period>.parquet`, or `<period>@<measured_by>.parquet`.
    Until then they are JSON lines next to it, so that a kill costs at most the last of them.
    Every head begins another part, and the part before is turned into Parquet:
    `<period>.parquet`, `<period>-002.parquet` and so on. Raises RecordError, also when
    the period exists.
    """

    def __init__(self, run: RunDirectory, period: str, measured_by: str | None = None) -> None:
        """Begin a period; its name must not have been used in this run by the same measurer."""
        self._folder = run.metrics
        self._name = (
            period if measured_by is None else f"{period}{_MEASURED_BY}{_host_part(measured_by)}"
        )
        self._part = 1
        for path in (self._growing, self._finished):
            if path.exists():
                raise _exists(path, period)
        self._file = AppendFile(self._growing)

    def append(self, lines: Sequence[str]) -> None:
        """Record lines; a head among them must be the first."""
        if not lines:
            return
        if is_head(lines[0]) and not self._file.empty:
            self._turn()
            self._part += 1
            self._file = AppendFile(self._growing)
        self._file.append(lines)

    def finish(self) -> tuple[Path, ...]:
        """Turn the period into Parquet and return the paths of its parts."""
        self._turn()
        parts = (_part_name(self._name, number + 1) for number in range(self._part))
        return tuple(self._folder / f"{part}.parquet" for part in parts)

    def close(self) -> None:
        """Stop writing and leave the rows as they are; safe to repeat, also after `finish`."""
        self._file.close()

    @property
    def _growing(self) -> Path:
        return self._folder / f"{_part_name(self._name, self._part)}.jsonl"

    @property
    def _finished(self) -> Path:
        return self._growing.with_suffix(".parquet")

    def _turn(self) -> None:
        self._file.close()
        METRICS.convert(self._growing, self._finished)


def trial_number(period: str) -> int | None:
    """The number of the trial that a period is of; None where it is of none."""
    found = _TRIAL_PERIOD.fullmatch(period)
    return None if found is None else int(found[1])


def convert_leftovers(run: RunDirectory) -> list[Path]:
    """Turn the periods that a killed run left as JSON lines into Parquet; for the lock's holder."""
    leftovers = [path for path in listed_in(run, run.metrics) if path.suffix == ".jsonl"]
    for path in leftovers:
        METRICS.convert(path, path.with_suffix(".parquet"))
    return [path.with_suffix(".parquet") for path in leftovers]


def read_metrics(
    run: RunDirectory,
    *,
    periods: Sequence[str] | None = None,
    types: Sequence[str] | None = None,
    without_damaged: bool = False,
) -> list[MetricRow]:
    """The rows of these periods and types (None: all), by time; also those of a running trial.

    Raises RecordError when a file is damaged, unless those are left out.
    """
    where, values = _condition(periods, types)
    order_by = "begin_ms, source, type, names::VARCHAR"
    statement = f"SELECT * FROM rows WHERE {where} ORDER BY {order_by}"  # noqa: S608
    found = query_metrics(run, statement, values, periods=periods, without_damaged=without_damaged)
    return [MetricRow(*row) for row in found]


def query_metrics(
    run: RunDirectory,
    statement: str,
    values: Sequence[object] = (),
    *,
    periods: Sequence[str] | None = None,
    without_damaged: bool = False,
) -> list[tuple[Any, ...]]:
    """What a statement in SQL says of the table `rows`, the metrics of these periods.

    For what hours of seconds come to: rows by themselves would fill the memory. Raises
    RecordError when a file is damaged, unless those are left out.
    """
    return _steadily(
        run,
        periods,
        lambda finished, growing: METRICS.query(finished, growing, statement, values),
        without_damaged=without_damaged,
    )


def query_hosts(
    run: RunDirectory, period: str, statements: Sequence[tuple[str, Sequence[object]]]
) -> list[list[tuple[Any, ...]]]:
    """What each statement, with its values, says of `rows` that observers recorded in a period.

    At less cost than one by one, for a trial that goes on. Raises RecordError as above.
    """
    return _steadily(
        run,
        [period],
        lambda finished, growing: METRICS.query_each(
            [path for path in finished if _of_host(path)],
            [path for path in growing if _of_host(path)],
            statements,
        ),
    )


def query_metrics_arrow(
    run: RunDirectory,
    statement: str,
    values: Sequence[object] = (),
    *,
    periods: Sequence[str] | None = None,
) -> Any | None:
    """The same as an Arrow table, for which pyarrow has to be installed; None without files."""
    return _steadily(
        run,
        periods,
        lambda finished, growing: METRICS.query_arrow(finished, growing, statement, values),
    )


def _steadily(
    run: RunDirectory,
    periods: Sequence[str] | None,
    read: Callable[[list[Path], list[Path]], T],
    *,
    without_damaged: bool = False,
) -> T:
    """What `read` makes of the files of these periods, which may be growing as they are read."""
    for _ in range(_READINGS):
        finished, growing = metric_parts(run, periods)
        if without_damaged:
            finished = intact_paths(run, finished)
        else:
            require_intact_paths(run, finished)
        try:
            return read(finished, growing)
        except RecordError:
            # A part that became Parquet while it was read is read as that.
            if all(path.exists() for path in growing):
                raise
    raise _restless(run)


def metric_parts(
    run: RunDirectory, periods: Sequence[str] | None = None
) -> tuple[list[Path], list[Path]]:
    """The files of these periods (None: all): Parquet, and JSON lines still being written.

    They are those that the journal lists; of a trial that goes on, what it writes. Raises
    RecordError where they cannot be listed.
    """
    chosen = [None] if periods is None else periods
    # In this order: what becomes Parquet in between is there twice rather than not at all.
    growing = [path for each in chosen for path in _parts_of(run, ".jsonl", each)]
    finished = [path for each in chosen for path in _parts_of(run, ".parquet", each)]
    # What is Parquet already is complete, whether or not its lines have been removed yet.
    return finished, [path for path in growing if path.with_suffix(".parquet") not in finished]


@contextmanager
def held_parts(
    run: RunDirectory, periods: Sequence[str]
) -> Iterator[tuple[list[Path], list[Path]]]:
    """The files of these periods as `metric_parts` has them, for the length of a `with`.

    Those still being written are copies of what they hold by now: the originals may become
    Parquet at any moment, and who reads for long would find them gone. Raises RecordError.
    """
    with scratch_folder() as folder:
        yield _steadily(
            run,
            periods,
            lambda finished, growing: (
                finished,
                [_copied(path, folder / path.name) for path in growing],
            ),
        )


def _copied(growing: Path, target: Path) -> Path:
    try:
        return Path(shutil.copyfile(growing, target))
    except OSError as error:
        raise RecordError(
            f"cannot be copied: {error.strerror or error}",
            where=str(growing),
            remedy=f"make room in {target.parent.parent}, or name another folder by TMPDIR",
        ) from error


def _of_host(path: Path) -> bool:
    return _MEASURED_BY in path.name


def _part_name(name: str, part: int) -> str:
    return name if part == 1 else f"{name}-{part:03d}"


def _host_part(measured_by: str) -> str:
    """No two hosts have the same: also not dut-002, and dut when it comes to its second part."""
    return re.sub(r"-(?=\d{3,}$)", "@2D", plain_name(measured_by))


def _parts_of(run: RunDirectory, suffix: str, period: str | None) -> list[Path]:
    """In the order they were written."""
    name = re.compile(".*" if period is None else rf"{re.escape(period)}(@.+)?(-\d{{3,}})?")
    found = (path for path in listed_in(run, run.metrics) if path.suffix == suffix)
    return sorted(
        (path for path in found if name.fullmatch(path.stem)),
        key=lambda path: (len(path.stem), path.stem),
    )


def _condition(
    periods: Sequence[str] | None, types: Sequence[str] | None
) -> tuple[str, list[object]]:
    named = {"period": periods, "type": types}
    chosen = {column: list(names) for column, names in named.items() if names is not None}
    where = " AND ".join(f"list_contains(?, {column})" for column in chosen)
    return where or "true", list(chosen.values())


def _restless(run: RunDirectory) -> RecordError:
    return RecordError(
        "its files change faster than they can be read",
        where=str(run.metrics),
        remedy="read it again when the trial has ended",
    )


def _exists(path: Path, period: str) -> RecordError:
    return RecordError(
        f"the period {period} has been recorded already",
        where=str(path),
        remedy="remove that file, or resume from an intact copy",
    )
