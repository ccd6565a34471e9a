"""What all parts of one session of a run share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.session.progress_listener import ProgressListener
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.record.recorder import Recorder


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
