"""`plimsoll console`: traffic by hand."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.benchmark.live_traffic.experiment_traffic import (
    ExperimentTraffic,
    experiment_traffic,
)
from plimsoll.cli.console.console_commands import ConsoleCommands
from plimsoll.cli.console.console_prompt import ConsolePrompt
from plimsoll.cli.console.live_traffic_table import short_line
from plimsoll.errors import InputError, PlimsollError
from plimsoll.host.ledger.ledger import sweep
from plimsoll.terminal.options.set_option import SetOption
from plimsoll.terminal.output import errors, labelled, stderr, stdout

_EPILOG = (
    "Examples: **plimsoll console examples/demo.yaml** · "
    "**printf 'start 100kpps\\nsleep 5s\\nstats\\n' | plimsoll console examples/demo.yaml**"
)


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
