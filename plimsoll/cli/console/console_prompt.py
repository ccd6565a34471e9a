"""The console at a terminal: a prompt with completion, history and live figures beneath."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from plimsoll.cli.console.console_commands import USAGES
from plimsoll.errors import MachineError
from plimsoll.extras import added_by

PROMPT = "plimsoll> "
_TOOLBAR_S = 0.5


class ConsolePrompt:
    """Reads lines as long as there are any."""

    def __init__(self, streams: Sequence[str], toolbar: Callable[[], str]) -> None:
        """`streams` are the names that are completed; `toolbar` is drawn anew each half second.

        Raises MachineError where prompt_toolkit is not installed.
        """
        toolkit, history = _toolkit()
        self._session = toolkit.PromptSession(
            history=history,
            completer=_completer(streams),
            complete_while_typing=False,
            bottom_toolbar=toolbar,
            refresh_interval=_TOOLBAR_S,
        )

    def read(self) -> str:
        """The next line. Raises EOFError at Ctrl-D, KeyboardInterrupt at Ctrl-C."""
        return str(self._session.prompt(PROMPT))


def completions(before: str, streams: Sequence[str]) -> Iterable[str]:
    """Words that may stand where the last one of `before` stands."""
    words = before.split()
    if not words or (len(words) == 1 and not before.endswith(" ")):
        return (name for name in (*USAGES, "exit") if name.startswith(before.strip()))
    last = "" if before.endswith(" ") else words[-1]
    usage = USAGES.get(words[0])
    allowed = usage.words if usage else USAGES if words[0] == "help" else ()
    known = [
        each
        for word in (USAGES if words[0] == "help" else allowed)
        for each in (streams if word == "streams" and words[0] != "help" else [word])
    ]
    return (word for word in known if word.startswith(last))


def _completer(streams: Sequence[str]) -> Any:
    from prompt_toolkit.completion import Completer, Completion  # noqa: PLC0415

    class Words(Completer):
        def get_completions(self, document: Any, complete_event: Any) -> Iterable[Completion]:
            before = document.text_before_cursor
            last = "" if before.endswith(" ") else (before.split() or [""])[-1]
            for word in completions(before, streams):
                yield Completion(word, start_position=-len(last))

    return Words()


def _toolkit() -> tuple[Any, Any]:
    try:
        import prompt_toolkit  # noqa: PLC0415
        from prompt_toolkit.history import FileHistory, InMemoryHistory  # noqa: PLC0415
    except ImportError as error:
        raise MachineError(
            f"the prompt needs prompt_toolkit ({error})",
            where="plimsoll console",
            remedy=f"{added_by('console')}, or pipe commands into it",
        ) from error
    file = _history_file()
    return prompt_toolkit, InMemoryHistory() if file is None else FileHistory(str(file))


def _history_file() -> Path | None:
    """As the XDG base directories have it; None where it cannot be made."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    folder = Path(state) / "plimsoll"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder / "console_history"
