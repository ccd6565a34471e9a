"""What ends a session before its result, recorded in the journal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from plimsoll.dut.lab import LabDied, LinkGone
from plimsoll.errors import Interrupted, PlimsollError
from plimsoll.generator.interface import GeneratorDied
from plimsoll.record.files.record_error import RecordError
from plimsoll.record.recorder import Recorder
from plimsoll.record.run.journal import DIED, FAULT


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
