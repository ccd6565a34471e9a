"""Conversations with a recording in place of the program (`replayed_script.py`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.generator.scripted.conversation import (
    ProgramName,
    ScriptConversation,
    script_environment,
)
from plimsoll.host.processes.child import Child

RECORDINGS = Path(__file__).parent / "recordings"
_REPLAY = Path(__file__).with_name("replayed_script.py")


@contextmanager
def replayed(recording: str, folder: Path) -> Iterator[ScriptConversation]:
    """One whose program keeps its telemetry at `folder`/socket; it has ended afterwards."""

    def start(terminal: int, pipes: tuple[int, int]) -> Child:
        words = (str(RECORDINGS / recording), str(folder / "socket"), str(folder))
        return Child.start(
            (sys.executable, str(_REPLAY), *words),
            log=folder / "log",
            environment=script_environment(pipes),
            terminal=terminal,
            inherited=pipes,
        )

    conversation = ScriptConversation(ProgramName("It", "use another"), start)
    try:
        yield conversation
    finally:
        conversation.close()
        assert not conversation.child.identity.alive
