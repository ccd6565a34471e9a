"""The command `plimsoll`."""

from __future__ import annotations

import os
import signal
import sys
from functools import cache
from importlib import import_module
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from plimsoll.cli.methods.method_commands import made_by, method_command
from plimsoll.errors import SIGNALLED, InputError, Interrupted, PlimsollError
from plimsoll.extras import check_only_ours
from plimsoll.host.entry.uncaught import TRACEBACK_VARIABLE, show_traceback
from plimsoll.record.methods.folders import folder_methods, is_standard_test
from plimsoll.terminal.output import errors
from plimsoll.terminal.suggesting_group import BeyondTyper, SuggestingGroup, todays
from plimsoll.terminal.usage_error import usage_error
from plimsoll.version import VERSION

# By name, in the order in which help lists them, the module of this package that adds each, or the
# method whose folder does. All other methods stand between the two.
_FIRST = {
    "init": ".machine.init",
    "check": ".methods.check",
    "run": "load-line",
    "trial": "trial",
    "test": ".methods.test",
    "console": ".console.console",
}
_THEN = {
    "watch": ".records.watch",
    "report": ".records.report",
    "why": ".records.why",
    "compare": ".records.compare",
    "trend": ".records.trend",
    "runs": ".records.runs",
    "metrics": ".records.metrics",
    "export": ".records.export",
    "serve": ".serve.serve",
    "calibrate": ".machine.calibrate",
    "osnoise": ".machine.osnoise",
    "ports": ".machine.ports",
    "generators": ".machine.generators",
    "simulate": ".methods.simulate",
    "import": ".records.import_",
    "lab": ".machine.lab",
    "tune": ".tune.tune",
}


def command_names() -> tuple[str, ...]:
    """All of them; a method of another distribution takes no name of ours."""
    listed = {*_FIRST, *_FIRST.values(), *_THEN}
    methods = (each for each in folder_methods() if not is_standard_test(each))
    return (*_FIRST, *(each for each in methods if each not in listed), *_THEN)


class CommandGroup(SuggestingGroup):
    """Knows the names, and imports a command's module, whose `add_to` registers it, on demand.

    Of click's types there are two, its own and those that newer versions of Typer carry.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        return list(command_names())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name; None where there is none."""
        return _load(cmd_name) if cmd_name in command_names() else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As the group's own, also by the names that commands had in the last version."""
        return super().resolve_command(ctx, todays(args, tell=not ctx.resilient_parsing))


@cache
def _load(name: str) -> TyperCommand | TyperGroup:
    module = _FIRST.get(name) or _THEN.get(name) or name
    if not module.startswith("."):
        return method_command(module)
    return made_by(import_module(module, __package__).add_to)


# Each on a line of its own: two blanks before the line's end, as Markdown has it.
_EXAMPLES = "  \n".join(
    (
        "Examples:",
        "plimsoll init -o experiment.yaml",
        "plimsoll check examples/demo.yaml",
        "plimsoll run examples/demo.yaml",
        "plimsoll run --resume runs/20260101T120000-demo",
        "plimsoll trial examples/demo.yaml --load 500kpps --duration 5s",
        "plimsoll console examples/demo.yaml",
        "plimsoll soak examples/demo.yaml --load 500kpps --duration 8h",
        "plimsoll test rfc2544 examples/demo.yaml --quick",
        "plimsoll test rfc9004 examples/demo.yaml --quick",
        "plimsoll probe examples/demo.yaml --duration 1m",
        "plimsoll latency-at-load examples/demo.yaml --rate 1Mpps",
        "plimsoll cross-check examples/demo.yaml --generators engine,testpmd",
        "plimsoll matrix sizes.yaml",
        "plimsoll noisy experiment.yaml --repetitions 5",
        "plimsoll plugfest examples/plugfest.yaml",
        "plimsoll churn examples/churn.yaml",
        "plimsoll watch",
        "plimsoll report runs/20260101T120000-demo",
        "plimsoll why last --above 1ms",
        "plimsoll compare release=4.18 release=4.19",
        "plimsoll trend --by release",
        "plimsoll export last --format csv -o metrics.csv",
        "plimsoll export last --format bundle --redact",
        "plimsoll import bundle 20260101T120000-demo.plimsoll.tar.gz",
        "plimsoll runs",
        "plimsoll runs list --tag kernel=6.1 --since 7d",
        "plimsoll runs show last",
        "plimsoll runs tag last kernel=6.1",
        'plimsoll runs note last "after the BIOS update"',
        "plimsoll runs rm 20260101T120000-demo",
        "plimsoll metrics list",
        "plimsoll metrics get --source trafficgen --type rx-pps --breakout rx_port",
        "plimsoll serve",
        "plimsoll calibrate --cpus 2",
        "plimsoll osnoise --cpus 2 --duration 60s --max 20us",
        "plimsoll ports",
        "plimsoll generators",
        "plimsoll serve otg examples/demo.yaml",
        "plimsoll serve trex examples/demo.yaml",
        "plimsoll simulate rare-stalls --strategy load-line --loss 0",
        "plimsoll import trafficgen --output experiment.yaml -- binary-search.py --rate 60 …",
        "plimsoll lab up testpmd-memif",
        "plimsoll lab list",
        "plimsoll lab down lab-1a2b3c",
        "plimsoll runs clean --on kube://lab/bench",
        "plimsoll tune init -o intent.yaml",
    )
)

app = typer.Typer(
    cls=CommandGroup,
    help="Find, prove and explain the load line of a packet dataplane: the highest load it "
    "carries with bounded loss, bounded latency and repeatable behaviour.",
    epilog=_EXAMPLES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"plimsoll {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
    traceback: Annotated[
        bool,
        typer.Option(
            "--traceback",
            help=f"Show where an error comes from, as {TRACEBACK_VARIABLE}=1 in the environment "
            "does.",
        ),
    ] = False,
) -> None:
    """Typer's place for options that come before a command."""
    if traceback:
        # The programs that a command starts inherit it.
        os.environ[TRACEBACK_VARIABLE] = "1"


def _end_cleanly(number: int, _: FrameType | None) -> NoReturn:
    """Unwind, so that the test bed is taken down and the record is whole."""
    raise Interrupted(signal.Signals(number).name)


def main() -> None:
    """Run the command line; every error the user can fix is one message and its exit code.

    Raises what else there is, for `enter` to catch.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # nohup has SIGHUP ignored, and means it.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end_cleanly)
    try:
        check_only_ours()
        sys.exit(app(prog_name="plimsoll", standalone_mode=False))
    except PlimsollError as error:
        show_traceback(error)
        errors.print_error(error)
        sys.exit(error.exit_code)
    except typer.TyperException as refusal:
        # Its message is empty where a group without a command has shown its help.
        if refusal.format_message():
            errors.print_error(usage_error(refusal))
        sys.exit(InputError.exit_code)
    except BeyondTyper as beyond:
        raise beyond.error from None
    except (Interrupted, typer.Abort):
        errors.print_interrupted()
        sys.exit(SIGNALLED)
