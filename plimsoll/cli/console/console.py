"""`plimsoll console`: traffic by hand."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.benchmark.live_traffic.experiment_traffic import (
    ExperimentTraffic,
    experiment_traffic,
)
from plimsoll.cli.console.console_commands import USAGES, ConsoleCommands, short_line
from plimsoll.errors import InputError, MachineError, PlimsollError
from plimsoll.extras import added_by
from plimsoll.host.ledger.ledger import sweep
from plimsoll.terminal.options.options import SetOption
from plimsoll.terminal.output import errors, labelled, stderr, stdout

_EPILOG = (
    "Examples: **plimsoll console examples/demo.yaml** · "
    "**printf 'start 100kpps\\nsleep 5s\\nstats\\n' | plimsoll console examples/demo.yaml**"
)
PROMPT = "plimsoll> "
_TOOLBAR_S = 0.5


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(console)


def console(
    experiment: Annotated[Path, typer.Argument(help="The experiment (YAML).")],
    *,
    set_fields: SetOption = None,
) -> None:
    """Start, change and stop an experiment's streams by hand, and watch them.

    At a terminal it prompts; from a pipe it carries out a command a line, and ends at the
    first that fails. Nothing is recorded. Type help for the commands.
    """
    planned = load_experiment(experiment, set_fields or ())
    prompting = sys.stdin.isatty()
    for line in sweep():
        _note(f"cleaned up after an earlier run: {line}")
    with experiment_traffic(planned, tell=_note) as traffic:
        commands = ConsoleCommands(traffic, stdout)
        if prompting:
            _converse(commands, traffic)
        else:
            _carry_out(commands, sys.stdin)


def _converse(commands: ConsoleCommands, traffic: ExperimentTraffic) -> None:
    def toolbar() -> str:
        return short_line(traffic.counts(), traffic.load_pps)

    names = [*dict.fromkeys(name.rsplit("/", 1)[0] for name in traffic.names), *traffic.names]
    prompt = ConsolePrompt(names, toolbar)
    # At a prompt Ctrl-C ends what goes on, and not the console.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _note("type help for the commands, quit to end")
    for line in _lines(prompt):
        try:
            if not commands.run(line):
                return
        except PlimsollError as error:
            # A mistake is to be corrected; what ended the session ends the console.
            if traffic.live.failure is not None:
                raise
            errors.print_error(error)
        except KeyboardInterrupt:
            _note("interrupted; quit ends the console")


def _lines(prompt: ConsolePrompt) -> Iterator[str]:
    with suppress(EOFError):
        while True:
            try:
                line = prompt.read()
            except KeyboardInterrupt:
                # As in a shell it gives up the line.
                continue
            yield line


def _carry_out(commands: ConsoleCommands, lines: Iterable[str]) -> None:
    for number, line in enumerate(lines, start=1):
        try:
            if not commands.run(line):
                return
        except InputError as error:
            place = f"line {number}"
            where = f"{place}, {error.where}" if error.where else place
            raise InputError(error.message, where=where, remedy=error.remedy) from None


def _note(text: str) -> None:
    stderr.print(labelled("note:", text), soft_wrap=True)


# The console at a terminal: a prompt with completion, history and live figures beneath.
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
