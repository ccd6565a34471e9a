"""How a run begins, so that only the same experiment and method can go on with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.versions import versions
from plimsoll.errors import InputError
from plimsoll.record.methods.method import Method
from plimsoll.record.recorder import Recorder
from plimsoll.record.run.journal import RUN_STARTED, JournalContents, read_journal
from plimsoll.record.run.run_directory import RunDirectory

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
