"""What `plimsoll export` does with each format: into a file, or into a running store."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from plimsoll.errors import InputError
from plimsoll.export.cdm.document import CdmVersion
from plimsoll.export.cdm.documents import RunDocuments
from plimsoll.export.cdm.run_iterations import Outline
from plimsoll.export.object_store import Bucket, put_parts
from plimsoll.export.opensearch.bulk import load, prepare_indices
from plimsoll.export.opensearch.server import RetryPolicy, Server
from plimsoll.export.output_file import ExportError, fresh_file
from plimsoll.export.parquet_parts import RecordedPeriod, copy_parts, periods_to_export
from plimsoll.export.record_store import put_record
from plimsoll.export.text_forms import histogram_lines, write_csv
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.terminal.output import say, stderr


@dataclass(frozen=True, slots=True)
class Job:
    """A run, the periods requested (None: all), and the target; None is standard output."""

    run: RunDirectory
    periods: list[str] | None
    output: Path | None
    force: bool

    @property
    def recorded(self) -> tuple[RecordedPeriod, ...]:
        """The periods. Raises InputError where there are none, and RecordError."""
        found = periods_to_export(self.run, self.periods)
        if not found:
            raise InputError(
                "the run has no metrics",
                where=str(self.run.path),
                remedy="of a matrix, name one of its runs: <matrix>/iteration-0001/sample-1",
            )
        return found


def say_moved(outline: Outline) -> None:
    """Say which periods are not shown when they were."""
    for period in outline.moved:
        say(
            f"note: {period.name} is exported {period.moved_ms / 1e3:.3f} s later than its rows "
            "say: the clock was set back, and CDM would mix its values with another trial's"
        )


def write_documents(job: Job, documents: RunDocuments) -> None:
    """CDM, as the bulk API takes it."""

    def write(file: TextIO) -> None:
        for document in documents:
            file.write(document.lines)

    _write(job, write)


def write_metrics(job: Job, *, wide: bool) -> None:
    """CSV."""
    recorded = job.recorded
    _write(job, lambda file: write_csv(file, job.run, recorded, wide=wide))


def write_histograms(job: Job, tags: Sequence[str], *, merge: bool) -> None:
    """An HdrHistogram interval log."""
    chosen = None if job.periods is None else job.recorded
    lines = histogram_lines(job.run, chosen, tags, merge=merge)
    _write(job, lambda file: file.writelines(f"{line}\n" for line in lines))


def load_documents(
    server: Server, documents: RunDocuments, version: CdmVersion, *, make: bool
) -> None:
    """CDM into a running OpenSearch. Raises ExportError, also where some were refused."""
    patience = RetryPolicy(notice=say)
    for index in prepare_indices(server, documents.indices, version, patience, make=make):
        say(f"made the index {index}")
    with _progress() as progress:
        bar = progress.add_task("documents", total=documents.count)
        loaded = load(
            server, documents, patience, lambda done: progress.update(bar, completed=done)
        )
        progress.update(bar, total=loaded.taken + loaded.failed)
    if loaded.failures:
        raise ExportError(
            f"it took {loaded.taken} documents and refused {loaded.failed}: {loaded}",
            where=server.url,
            remedy="fix what it reports of its indices, then export again",
        )
    say(f"{loaded.taken} documents are in {server.url}")


def copy_parquet(job: Job) -> None:
    """Parquet into a folder."""
    if job.output is None:
        raise InputError("parquet needs a folder", where="--output", remedy="name one with -o")
    for path in copy_parts(job.run, job.recorded, job.output, force=job.force):
        say(str(path))


def put_parquet(job: Job, bucket: Bucket, *, whole: bool) -> None:
    """Parquet into object storage; of a `whole` run all of its record, its parts' as well."""
    if not whole:
        put_parts(job.run, job.recorded, bucket, say)
        return
    for run in (job.run, *map(RunDirectory, part_paths(job.run.path))):
        put_record(run, bucket, say)


def _write(job: Job, write: Callable[[TextIO], object]) -> None:
    """Into the file, or to standard output."""
    if job.output is not None:
        with fresh_file(job.output, force=job.force) as file:
            write(file)
        return
    write(sys.stdout)


def _progress() -> Progress:
    """On a terminal a bar; elsewhere nothing, as every refresh would be a line."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=stderr, disable=not stderr.is_terminal)
