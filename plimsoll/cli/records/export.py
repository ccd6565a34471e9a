"""`plimsoll export`: a run in other programs' forms, as a file or into a running store."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.records.export_bundle import export_bundle
from plimsoll.errors import InputError
from plimsoll.export.bundle.pack import SUFFIX
from plimsoll.export.cdm.document import CdmVersion
from plimsoll.export.cdm.documents import RunDocuments, RunOwner
from plimsoll.export.cdm.run_iterations import outline_of
from plimsoll.export.credentials import read_credentials
from plimsoll.export.object_store import Bucket
from plimsoll.export.opensearch.server import Server
from plimsoll.record.index.find import find_run
from plimsoll.record.index.run_notes import parse_tag, read_notes
from plimsoll.record.index.run_paths import part_paths
from plimsoll.record.run.file_check import require_intact
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.terminal.options.export_targets import (
    Job,
    copy_parquet,
    load_documents,
    put_parquet,
    say_moved,
    write_documents,
    write_histograms,
    write_metrics,
)
from plimsoll.terminal.options.metric_completion import complete_period
from plimsoll.terminal.options.options import parse_option
from plimsoll.terminal.options.run_choice import RunArgument, RunsFolderOption

_EPILOG = "  \n".join(
    (
        "Examples:",
        "plimsoll export runs/20260101T120000-demo --format csv --wide -o demo.csv",
        "plimsoll export last --format bundle --redact -o for-the-vendor.tar.gz",
        "plimsoll export last --format bundle --redact --word customer-x",
        "plimsoll export last --format hlog --period trial-0007 --merge -o trial-7.hlog",
        "plimsoll export last --to https://opensearch:9200 --make-indices",
        "plimsoll export last --to s3://bench/plimsoll --endpoint https://minio:9000",
    )
)


class ExportFormat(StrEnum):
    """What `--format` takes."""

    BUNDLE = "bundle"
    CDM = "cdm"
    CSV = "csv"
    HLOG = "hlog"
    PARQUET = "parquet"


# What of a run's files each format is made from.
_READ = {
    ExportFormat.CDM: ("metrics/", "environment.json"),
    ExportFormat.CSV: ("metrics/",),
    ExportFormat.HLOG: ("histograms.hlog",),
    ExportFormat.PARQUET: ("metrics/",),
}


# The options that are of one format, and where it matters of one kind of target.
_OPTIONS: Mapping[str, tuple[ExportFormat, str | None]] = {
    "redact": (ExportFormat.BUNDLE, None),
    "word": (ExportFormat.BUNDLE, None),
    "wide": (ExportFormat.CSV, None),
    "stream": (ExportFormat.HLOG, None),
    "merge": (ExportFormat.HLOG, None),
    "tag": (ExportFormat.CDM, None),
    "user": (ExportFormat.CDM, None),
    "email": (ExportFormat.CDM, None),
    "make_indices": (ExportFormat.CDM, "http"),
    "ca_file": (ExportFormat.CDM, "http"),
    "endpoint": (ExportFormat.PARQUET, "s3"),
    "record": (ExportFormat.PARQUET, "s3"),
}
_ToFormatOption = Annotated[
    ExportFormat | None,
    typer.Option(
        "--format",
        help="bundle: one archive with report, record and a checksum of each file, for "
        "plimsoll import bundle; cdm: Common Data Model documents for OpenSearch's bulk API; "
        "csv: metrics; hlog: latency histograms; parquet: metrics, a file a period.",
    ),
]
_OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="The file (parquet: folder); by default standard output, of a bundle "
        f"<run id>{SUFFIX} here.",
    ),
]
_PeriodOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Only this, as plimsoll metrics takes it: trial-0007, 7, measurement, a phase "
        "such as validation, all; may be given again.",
        autocompletion=complete_period,
    ),
]
_ToOption = Annotated[
    str | None,
    typer.Option(
        help="A running OpenSearch (https://host:9200, takes cdm) or object storage "
        "(s3://bucket/prefix, takes parquet), instead of a file."
    ),
]
_RedactOption = Annotated[
    bool,
    typer.Option(
        "--redact",
        help="bundle: replace names of hosts and users, MAC and IP addresses, serial numbers "
        "and paths, each by the same stand-in everywhere; leave out notes. --resume does not "
        "take such a run.",
    ),
]
_WordOption = Annotated[
    list[str] | None,
    typer.Option(help="bundle: with --redact, replace this word, too; may be repeated."),
]
_WideOption = Annotated[
    bool, typer.Option("--wide", help="csv: a column for each name of a series.")
]
_StreamOption = Annotated[
    list[str] | None, typer.Option(help="hlog: only this tag; may be given again.")
]
_MergeOption = Annotated[
    bool, typer.Option("--merge", help="hlog: add up what is of one tag (and --period).")
]
_CdmVersionOption = Annotated[
    CdmVersion, typer.Option(help="cdm: as which version of Crucible's data model.")
]
_TagOption = Annotated[
    list[str] | None,
    typer.Option(help="cdm: key=value, in addition to the run's own; may be repeated."),
]
_MakeIndicesOption = Annotated[
    bool, typer.Option("--make-indices", help="OpenSearch: make indices that are missing.")
]
_CaFileOption = Annotated[
    Path | None, typer.Option(help="CA certificate (PEM) to verify OpenSearch with.")
]
_EndpointOption = Annotated[
    str | None, typer.Option(help="s3: the server's URL; by default AWS_ENDPOINT_URL's.")
]
_RecordOption = Annotated[
    bool,
    typer.Option("--record", help="s3: the whole record, for plimsoll runs --store."),
]
_CredentialsOption = Annotated[
    Path | None,
    typer.Option(
        help="A file with one line, user:password (s3: key id:secret), that only you may read."
    ),
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(export)


def export(
    context: typer.Context,
    run: RunArgument,
    *,
    to_format: _ToFormatOption = None,
    output: _OutputOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    period: _PeriodOption = None,
    to: _ToOption = None,
    redact: _RedactOption = False,
    word: _WordOption = None,
    wide: _WideOption = False,
    stream: _StreamOption = None,
    merge: _MergeOption = False,
    cdm_version: _CdmVersionOption = CdmVersion.V8,
    tag: _TagOption = None,
    user: Annotated[str | None, typer.Option(help="cdm: whose run it is.")] = None,
    email: Annotated[str | None, typer.Option(help="cdm: their address.")] = None,
    make_indices: _MakeIndicesOption = False,
    ca_file: _CaFileOption = None,
    endpoint: _EndpointOption = None,
    record: _RecordOption = False,
    credentials: _CredentialsOption = None,
    runs: RunsFolderOption = Path("runs"),
) -> None:
    """Write a run as one archive, Common Data Model documents, CSV, histogram log or Parquet.

    Without --to it becomes a file. Ids are made from the run: exported or loaded again, it
    replaces itself. Credentials come from PLIMSOLL_EXPORT_USER and PLIMSOLL_EXPORT_PASSWORD
    (s3: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY) or from a file, never from here.
    """
    chosen = _format(to_format, to, output)
    _check_options(chosen, to, context.params)
    if chosen is ExportFormat.BUNDLE:
        export_bundle(run, runs, output, word, redact=redact, force=force)
        return
    job = Job(find_run(run, runs), period, output, force)
    for directory in (job.run, *map(RunDirectory, part_paths(job.run.path))):
        require_intact(directory, *_READ[chosen])
    if chosen is ExportFormat.CSV:
        write_metrics(job, wide=wide)
    elif chosen is ExportFormat.HLOG:
        write_histograms(job, stream or (), merge=merge)
    elif chosen is ExportFormat.PARQUET:
        _as_parquet(job, to, endpoint, credentials, whole=record)
    else:
        documents = _documents(job, cdm_version, RunOwner(user, email), tag or [])
        if to is None:
            write_documents(job, documents)
        else:
            server = Server(to, read_credentials(credentials), ca_file=ca_file)
            load_documents(server, documents, cdm_version, make=make_indices)


def _documents(job: Job, version: CdmVersion, owner: RunOwner, tags: list[str]) -> RunDocuments:
    outline = outline_of(job.run, job.periods)
    say_moved(outline)
    noted = {**read_notes(job.run).tags, **_tags(tags)}
    return RunDocuments(job.run, outline, version, owner=owner, tags=noted)


def _as_parquet(
    job: Job, to: str | None, endpoint: str | None, credentials: Path | None, *, whole: bool
) -> None:
    if to is None:
        copy_parquet(job)
        return
    # Without a file the storage's own variables count.
    key = None if credentials is None else read_credentials(credentials)
    put_parquet(job, Bucket.of(to, endpoint, key), whole=whole)


def _format(given: ExportFormat | None, to: str | None, output: Path | None) -> ExportFormat:
    """The one requested, or the one that the target takes."""
    takes = None
    if to is not None:
        scheme = to.partition("://")[0]
        takes = {
            "http": ExportFormat.CDM,
            "https": ExportFormat.CDM,
            "s3": ExportFormat.PARQUET,
        }.get(scheme)
        if takes is None:
            # Not repeated: there may be a password in it.
            raise InputError(
                "is neither an OpenSearch nor object storage",
                where="--to",
                remedy="write https://host:9200 or s3://bucket/prefix",
            )
        if output is not None:
            raise InputError("cannot be combined with --to", where="--output", remedy="drop one")
    chosen = given or takes
    if chosen is None:
        formats = ", ".join(ExportFormat)
        raise InputError("no format is given", where="--format", remedy=f"choose from: {formats}")
    if takes is not None and chosen is not takes:
        raise InputError(
            f"that target takes {takes}, not {chosen}", where="--to", remedy="drop --format"
        )
    return chosen


def _check_options(chosen: ExportFormat, to: str | None, given: Mapping[str, object]) -> None:
    """Each is of a format, and of a kind of target; elsewhere it would do nothing."""
    if chosen is ExportFormat.BUNDLE and given["period"]:
        raise InputError("is not for a bundle", where="--period", remedy="drop it")
    uses_http = chosen is ExportFormat.CDM
    of = {**_OPTIONS, "credentials": (chosen, "http" if uses_http else "s3")}
    for name, (belongs_to, scheme) in of.items():
        if not given[name]:
            continue
        option = f"--{name.replace('_', '-')}"
        if chosen is not belongs_to:
            raise InputError(f"is for --format {belongs_to}", where=option, remedy=f"drop {option}")
        if scheme is not None and not (to or "").startswith(scheme):
            raise InputError(f"is for --to {scheme}…", where=option, remedy=f"drop {option}")


def _tags(texts: list[str]) -> dict[str, str]:
    return dict(parse_option("--tag", lambda said: parse_tag(str(said)), text) for text in texts)
