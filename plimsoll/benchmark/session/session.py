"""One session of a run: how it begins, what all its parts share, and the versions of everything."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.dut.lab import LabDied, LinkGone
from plimsoll.errors import InputError, Interrupted, PlimsollError
from plimsoll.generator.interface import GeneratorDied, GeneratorFacts, Interval, TrialPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.methods.method import Method
from plimsoll.record.recorder import Recorder
from plimsoll.record.run.journal import DIED, FAULT, RUN_STARTED, JournalContents, read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.version import VERSION


# What a user interface sees of a run while it goes on.
class ProgressListener(Protocol):
    """Called from the run's own thread; must return quickly."""

    def note(self, text: str) -> None:
        """Something the user should know."""

    def trial_started(self, number: int, phase: TrialPhase, plan: TrialPlan) -> None:
        """A trial begins."""

    def interval(self, interval: Interval) -> None:
        """An interval of it ended."""

    def trial_ended(self, record: TrialRecord) -> None:
        """It was judged and is on disk."""


@dataclass(frozen=True)
class Session:
    """The experiment, where it is recorded, who listens, and the ledger of what to clean up.

    A simulated test bed has no ledger: it leaves nothing behind.
    """

    experiment: Experiment
    recorder: Recorder
    listener: ProgressListener
    ledger: Ledger | None

    @property
    def scratch(self) -> Path:
        """A directory for the logs of what the run starts, gone with the test bed's ledger.

        Without one it is the run's own.
        """
        return self.recorder.run.path if self.ledger is None else self.ledger.directory


# What ends a session before its result, recorded in the journal.
@contextmanager
def record_failures(recorder: Recorder) -> Iterator[None]:
    """Journal what ended the session, then re-raise.

    That is a process that died, a link that went down, an interruption, or what no one foresaw,
    which gets a note of where what was recorded is kept. An error that names its remedy
    needs no entry.
    """
    try:
        yield
    except (LabDied, LinkGone, GeneratorDied) as error:
        recorder.event(DIED, what=str(error))
        raise
    except (Interrupted, KeyboardInterrupt):
        recorder.event("interrupted")
        raise
    except PlimsollError:
        raise
    except Exception as error:
        error.add_note(f"what was recorded is kept in {recorder.run.path}")
        # The disk may be what failed.
        with suppress(RecordError):
            recorder.event(FAULT, what=f"Plimsoll itself, by {type(error).__name__}: {error}")
        raise


def versions(generator: GeneratorFacts | None) -> dict[str, str | None]:
    """By name; the engine's are null before it was started, and where another sends.

    A simulation's is Plimsoll's, as are its DUTs.
    """
    found: dict[str, str | None] = {
        "plimsoll": VERSION,
        "python": platform.python_version(),
        "engine": None,
        "dpdk": None,
    }
    if generator is not None:
        found |= {generator.name: generator.version, "dpdk": generator.dpdk}
    return found


S = TypeVar("S", bound=BaseModel)


def begin(
    recorder: Recorder,
    method: Method[Any],
    experiment: Experiment,
    settings: Mapping[str, object] | None = None,
) -> None:
    """Journal that a run of `method` begins, with its settings other than the experiment."""
    recorder.event(
        RUN_STARTED,
        method=method.name,
        experiment_sha256=_fingerprint(experiment),
        versions=versions(None),
        settings=dict(settings or {}),
    )


def recorded_settings(history: JournalContents) -> object:
    """The settings that the run began with, as JSON; None in runs of earlier versions."""
    return _started(history).get("settings")


def check_method(history: JournalContents, method: Method[Any], run: RunDirectory) -> None:
    """Raise InputError when the run was begun by another method, or not at all."""
    began_as = _started(history).get("method")
    if began_as is None:
        raise InputError(
            "nothing was recorded of this run",
            where=str(run.journal),
            remedy="start a new run",
        )
    if began_as != method.name:
        raise InputError(
            f"this is a run of another kind ({began_as})",
            where=str(run.path),
            remedy=f"name a directory that plimsoll {method.command} has made",
        )


def check_resumable(
    history: JournalContents, method: Method[Any], experiment: Experiment, run: RunDirectory
) -> None:
    """Raise InputError when the run was begun by another method or as another experiment."""
    check_method(history, method, run)
    if _started(history).get("experiment_sha256") != _fingerprint(experiment):
        raise InputError(
            "the experiment is no longer the one that this run began with, so its trials "
            "were judged by other rules",
            where=str(run.experiment),
            remedy="restore it, or start a new run",
        )


def resumable(
    run: RunDirectory, method: Method[Any], experiment: Experiment, settings: type[S]
) -> S:
    """The settings that the run began with. Raises InputError where it cannot be resumed."""
    history = read_journal(run.journal)
    check_resumable(history, method, experiment, run)
    try:
        return settings.model_validate(recorded_settings(history))
    except ValidationError as error:
        raise InputError(
            "the settings that this run began with cannot be read",
            where=str(run.journal),
            remedy="resume it with the version of plimsoll that began it, or start a new run",
        ) from error


def _started(history: JournalContents) -> Mapping[str, object]:
    """What was journalled when the run began; nothing where it did not."""
    return next((event.fields for event in history.of_kind(RUN_STARTED)), {})


def _fingerprint(experiment: Experiment) -> str:
    """Of its content, whatever its layout as text."""
    normalised = json.dumps(experiment.normalised(), sort_keys=True)
    return hashlib.sha256(normalised.encode()).hexdigest()
