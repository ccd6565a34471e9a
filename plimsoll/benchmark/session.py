"""What all parts of one session of a run share."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.benchmark.experiment import Experiment
from plimsoll.benchmark.watcher import Watcher
from plimsoll.host.ledger import Ledger
from plimsoll.record.recorder import Recorder


@dataclass(frozen=True)
class Session:
    """What is asked, where it is recorded, who watches, and the list of what to clean up."""

    experiment: Experiment
    recorder: Recorder
    watcher: Watcher
    ledger: Ledger
