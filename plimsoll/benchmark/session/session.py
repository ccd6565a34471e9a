"""What all parts of one session of a run share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.dut.lab import LabDied, LinkGone
from plimsoll.errors import Interrupted, PlimsollError
from plimsoll.generator.interface import GeneratorDied, Interval, TrialPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.recorder import Recorder
from plimsoll.record.run.journal import DIED, FAULT
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord


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
