"""What ends a session before its result, recorded in the journal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll.dut.lab import LabDied, LinkGone
from plimsoll.errors import Interrupted
from plimsoll.generator.interface import GeneratorDied
from plimsoll.record.recorder import Recorder
from plimsoll.record.run.journal import DIED


@contextmanager
def record_failures(recorder: Recorder) -> Iterator[None]:
    """Journal a process that died, a link that went down, and an interruption, then re-raise."""
    try:
        yield
    except (LabDied, LinkGone, GeneratorDied) as error:
        recorder.event(DIED, what=str(error))
        raise
    except (Interrupted, KeyboardInterrupt):
        recorder.event("interrupted")
        raise
