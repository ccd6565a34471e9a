"""What ends a session before its result, told in the journal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll.dut.lab import LabDied, LinkGone
from plimsoll.errors import Interrupted
from plimsoll.generator.interface import GeneratorDied
from plimsoll.record.recorder import Recorder
from plimsoll.record.run.journal import DIED


@contextmanager
def deaths_recorded(recorder: Recorder) -> Iterator[None]:
    """Journal the death of a process, a link that went, and an interruption, on their way up."""
    try:
        yield
    except (LabDied, LinkGone, GeneratorDied) as error:
        recorder.event(DIED, what=str(error))
        raise
    except (Interrupted, KeyboardInterrupt):
        recorder.event("interrupted")
        raise
