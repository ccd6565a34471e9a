"""The run directory: where each part of a run's record lies."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import yaml

from plimsoll.errors import InputError
from plimsoll.record.files.record_error import RecordError, cannot_begin, write_failed
from plimsoll.record.files.whole_file import write_whole
from plimsoll.record.run.run_lock import locked
from plimsoll.text.bounded_yaml import load_yaml
from plimsoll.text.given_path import read_regular_file

# Several times what an experiment of the largest size that is taken comes to.
_MAX_MIB = 64

# A record names hosts, addresses and how a machine boots: of no concern to all its users.
_MODE = 0o750


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """A run directory and the names in it. The files come to be as the run continues."""

    path: Path

    @classmethod
    def create(
        cls,
        runs_root: Path,
        name: str,
        experiment: Mapping[str, object],
        *,
        now: datetime | None = None,
    ) -> Self:
        """Make `<runs_root>/<UTC yyyymmddThhmmss>-<name>` and write the experiment into it.

        `experiment` holds plain YAML values. A number is added to the name when
        another run began in the same second. The journal is there, empty, before
        the experiment, so that whatever has an experiment is a run and can be
        resumed, wherever a kill came. Raises RecordError, and InputError for a path that no
        query could name.
        """
        _require_utf8(runs_root)
        moment = (now or datetime.now(UTC)).astimezone(UTC)
        run = cls(_make_directory(runs_root, f"{moment:%Y%m%dT%H%M%S}-{_file_name(name)}"))
        run._begin_or_leave_nothing(experiment)
        return run

    @classmethod
    def within(cls, path: Path, experiment: Mapping[str, object]) -> Self:
        """The run directory at `path`, a part of a greater run, made if it is not there yet.

        `experiment` is as for `create`. Raises RecordError.
        """
        run = cls(path)
        if not run.experiment.is_file():
            try:
                path.mkdir(_MODE, parents=True, exist_ok=True)
            except OSError as error:
                raise write_failed(path, error) from error
            run._begin_or_leave_nothing(experiment)
        return run

    def _begin_or_leave_nothing(self, experiment: Mapping[str, object]) -> None:
        """Without its experiment nothing can go on with it, and it would be listed as damaged."""
        try:
            self._begin(experiment)
        except BaseException:
            with contextlib.suppress(OSError):
                self.experiment.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                self.journal.unlink(missing_ok=True)
            # It stays where anything else is in it.
            with contextlib.suppress(OSError):
                self.path.rmdir()
            raise

    def _begin(self, experiment: Mapping[str, object]) -> None:
        write_whole(self.journal, "")
        text = yaml.safe_dump(dict(experiment), sort_keys=False, allow_unicode=True)
        write_whole(self.experiment, text)

    @classmethod
    def open(cls, path: Path) -> Self:
        """The run directory at `path`. Raises InputError when it is none."""
        run = cls(path)
        missing = [part.name for part in (run.experiment, run.journal) if not part.is_file()]
        if missing:
            raise InputError(
                f"this is not a run directory: it holds no {' and no '.join(missing)}",
                where=str(path),
                remedy="name a directory that plimsoll run has made, such as runs/<run id>",
            )
        return run

    @property
    def run_id(self) -> str:
        """The directory's own name."""
        return self.path.resolve().name

    @property
    def experiment(self) -> Path:
        """The experiment as given, normalised (YAML)."""
        return self.path / "experiment.yaml"

    @property
    def environment(self) -> Path:
        """Host, versions and the tester's calibration (JSON)."""
        return self.path / "environment.json"

    @property
    def audit(self) -> Path:
        """The tester's host against its intent, as the run found it (JSON)."""
        return self.path / "audit.json"

    @property
    def observed_audits(self) -> Path:
        """The folder of the same for the other hosts, `<place in observe.hosts>.json` each."""
        return self.path / "audits"

    @property
    def journal(self) -> Path:
        """Every event and every trial, as it happened (JSON lines)."""
        return self.path / "journal.jsonl"

    @property
    def metrics(self) -> Path:
        """The folder of the metrics, one Parquet file a period."""
        return self.path / "metrics"

    @property
    def histograms(self) -> Path:
        """The latency histograms of every interval (HdrHistogram interval log)."""
        return self.path / "histograms.hlog"

    @property
    def spikes(self) -> Path:
        """Stalls and worst latencies with their times (Parquet)."""
        return self.path / "spikes.parquet"

    @property
    def causes(self) -> Path:
        """The folder of what explains spikes, losses and stalls, `<trial>.json` each."""
        return self.path / "causes"

    @property
    def flows(self) -> Path:
        """The folder of what came of each flow, `<trial>.parquet` each."""
        return self.path / "flows"

    @property
    def result(self) -> Path:
        """What the run found (JSON)."""
        return self.path / "result.json"

    @property
    def report(self) -> Path:
        """The page for people (HTML)."""
        return self.path / "report.html"

    @property
    def charts(self) -> Path:
        """The folder of the report's charts as PNG and SVG."""
        return self.path / "charts"

    @property
    def tables(self) -> Path:
        """The folder of the report's tables as CSV."""
        return self.path / "tables"

    def lock(self) -> AbstractContextManager[None]:
        """Be the only writer for the length of a `with`. Raises RecordError naming the other."""
        return locked(self.path / "lock")

    def read_experiment(self) -> dict[str, object]:
        """The experiment as it was written. Raises RecordError when it is damaged."""
        try:
            content = read_regular_file(self.experiment, _MAX_MIB, "")
            experiment = load_yaml(content.decode())
        except InputError as error:
            raise _damaged(self.experiment, error.message) from error
        except (OSError, ValueError) as error:
            raise _damaged(self.experiment, str(error)) from error
        if not isinstance(experiment, dict):
            raise _damaged(self.experiment, "not a mapping")
        return experiment


def trial_period(number: int) -> str:
    """The name of a trial's period, by which its metrics are known."""
    return f"trial-{number:04d}"


def _require_utf8(path: Path) -> None:
    """DuckDB takes paths in UTF-8 alone; one that is not would fail with the first trial's end."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the name of the runs' directory is not UTF-8: {os.fsencode(path)!r}",
            where="--runs",
            remedy="choose another, or have Python read names as UTF-8 (PYTHONUTF8=1)",
        ) from error


def _make_directory(runs_root: Path, run_id: str) -> Path:
    path, attempt = runs_root / run_id, 1
    while True:
        try:
            path.mkdir(_MODE, parents=True)
        except FileExistsError as error:
            if runs_root.exists() and not runs_root.is_dir():
                raise cannot_begin(runs_root, error) from error
            attempt += 1
            path = runs_root / f"{run_id}-{attempt}"
        except OSError as error:
            raise cannot_begin(path, error) from error
        else:
            return path


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "run"


def _damaged(path: Path, reason: str) -> RecordError:
    return RecordError(
        f"cannot be read: {reason}", where=str(path), remedy="restore it from a copy of the run"
    )
