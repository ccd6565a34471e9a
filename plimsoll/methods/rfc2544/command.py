"""`plimsoll test rfc2544`: the six tests of RFC 2544."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

import typer

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.errors import InputError
from plimsoll.methods.rfc2544.page import rfc2544_answer
from plimsoll.methods.rfc2544.result import METHOD
from plimsoll.methods.rfc2544.run import check_rfc2544, run_rfc2544
from plimsoll.methods.rfc2544.settings import TESTS, Rfc2544Settings, Test
from plimsoll.terminal.commands.standard_command import StandardCommand
from plimsoll.terminal.options.options import parse_option, parse_sizes
from plimsoll.terminal.output import stdout
from plimsoll.terminal.tables.figure_table import print_sections
from plimsoll.text.mistakes import did_you_mean
from plimsoll.text.units import parse_rate, parse_ratio

_TestsOption = Annotated[
    str | None, typer.Option(help=f"Some of {','.join(TESTS)}; all by default.")
]
_SizesOption = Annotated[
    str | None,
    typer.Option(help="Frame sizes with FCS; 64,128,256,512,1024,1280,1518 by default."),
]
_ImixOption = Annotated[
    str | None, typer.Option(help="A mix instead of sizes: simple, csit, vsperf or a genome.")
]
_MaximumOption = Annotated[
    str | None,
    typer.Option(help="100 % where the lab has no line rate; by default the search's maximum."),
]
_LossOption = Annotated[
    str | None, typer.Option(help="What the throughput may lose, such as 0.002%; else nothing.")
]
_ResetCommandOption = Annotated[
    str | None, typer.Option(help="A program with its arguments that resets the DUT.")
]
_QuickOption = Annotated[
    bool, typer.Option("--quick", help="Seconds instead of the standard's durations.")
]


def _settings(
    experiment: Experiment,
    *,
    tests: _TestsOption = None,
    sizes: _SizesOption = None,
    imix: _ImixOption = None,
    maximum: _MaximumOption = None,
    loss: _LossOption = None,
    reset_command: _ResetCommandOption = None,
    quick: _QuickOption = False,
) -> Rfc2544Settings:
    """Throughput, latency, frame loss, back-to-back frames, recovery and reset, per RFC 2544.

    The durations are the standard's own: with all tests and sizes, days. --quick takes minutes,
    and says in every report by how much it falls short.

    Exits with 0 if every test gave a result, with 1 if the DUT prevented one (for example no
    throughput was found), with 5 if the tester did.
    """
    defaults = Rfc2544Settings.quickly() if quick else Rfc2544Settings()
    if imix is not None and sizes is not None:
        raise InputError(
            "a mix takes the place of sizes", where="--imix", remedy="give --sizes or --imix"
        )
    update: dict[str, Any] = {"imix": imix}
    if tests is not None:
        update["tests"] = _parse_tests(tests)
    if sizes is not None:
        update["sizes"] = parse_sizes("--sizes", sizes)
    if maximum is not None:
        update["maximum"] = parse_option("--maximum", parse_rate, maximum)
    if loss is not None:
        ratio = parse_option("--loss", parse_ratio, loss)
        update["throughput"] = defaults.throughput.model_copy(update={"loss_ratio": ratio})
    if reset_command is not None:
        command = _parse_command(reset_command)
        update["reset"] = defaults.reset.model_copy(update={"command": command})
    settings = defaults.model_copy(update=update)
    check_rfc2544(experiment, settings)
    return settings


def _parse_tests(text: str) -> tuple[Test, ...]:
    """In the standard's order, each once."""
    named = [word.strip() for word in text.split(",") if word.strip()]
    for word in named:
        if word not in TESTS:
            raise InputError(
                f"there is no test {word!r}", where="--tests", remedy=did_you_mean(word, TESTS)
            )
    if not named:
        raise InputError(
            "no test is named", where="--tests", remedy=f"give some of {','.join(TESTS)}"
        )
    return tuple(test for test in TESTS if test in named)


def _parse_command(text: str) -> tuple[str, ...]:
    """An argument vector; no shell reads it."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise InputError(
            f"{text!r} cannot be split into words: {error}",
            where="--reset-command",
            remedy="close its quotes",
        ) from None
    if not words:
        raise InputError(
            "it names no program",
            where="--reset-command",
            remedy="give a program with its arguments, such as 'ssh dut reboot'",
        )
    return words


add_to = StandardCommand(
    METHOD,
    model=Rfc2544Settings,
    settings=_settings,
    run=run_rfc2544,
    show=lambda _, run: print_sections(rfc2544_answer(run), stdout),
    example="plimsoll test rfc2544 examples/demo.yaml --quick",
    examples=(
        "plimsoll test rfc2544 experiment.yaml",
        "plimsoll test rfc2544 demo.yaml --quick --tests throughput,latency --sizes 64,1518",
        "plimsoll test rfc2544 --resume runs/20260101T120000-demo-rfc2544",
    ),
).add_to
