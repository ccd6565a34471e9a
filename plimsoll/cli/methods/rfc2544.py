"""`plimsoll rfc2544`: the six tests of RFC 2544."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from plimsoll.benchmark.rfc2544.run import METHOD, check_rfc2544, run_rfc2544
from plimsoll.benchmark.rfc2544.settings import TESTS, Rfc2544Settings, Test
from plimsoll.cli.methods.progress import progress_on
from plimsoll.cli.methods.running import serving
from plimsoll.cli.methods.standard_command import (
    Asked,
    StandardCommand,
    given_experiment,
    new_run,
    print_outcome,
    resumed_run,
    running_standard,
)
from plimsoll.cli.options.frame_options import parse_sizes
from plimsoll.cli.options.options import (
    ExperimentArgument,
    JsonOption,
    MetricsPortOption,
    RunsOption,
    parse_option,
)
from plimsoll.cli.options.set_option import SetOption
from plimsoll.cli.options.tags_option import TagsOption, tag_run
from plimsoll.cli.terminal.exit_codes import end_by
from plimsoll.cli.terminal.output import stderr
from plimsoll.errors import InputError
from plimsoll.report.pages.standard.rfc2544_answer import rfc2544_answer
from plimsoll.text.mistakes import did_you_mean
from plimsoll.text.units import parse_rate, parse_ratio
from plimsoll.web.open_metrics import LiveMetrics

_COMMAND = StandardCommand(METHOD, "plimsoll rfc2544 examples/demo.yaml --quick")
_EPILOG = (
    "Examples: **plimsoll rfc2544 experiment.yaml** · "
    "**plimsoll rfc2544 examples/demo.yaml --quick --tests throughput,latency --sizes 64,1518** · "
    "**plimsoll rfc2544 --resume runs/20260101T120000-demo-rfc2544**"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(rfc2544)


def rfc2544(
    experiment: ExperimentArgument = None,
    *,
    tests: Annotated[
        str | None, typer.Option(help=f"Some of {','.join(TESTS)}; all by default.")
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(help="Frame sizes with FCS; 64,128,256,512,1024,1280,1518 by default."),
    ] = None,
    imix: Annotated[
        str | None, typer.Option(help="A mix instead of sizes: simple, csit, vsperf or a genome.")
    ] = None,
    maximum: Annotated[
        str | None,
        typer.Option(help="100 % where the lab has no line rate; by default the search's maximum."),
    ] = None,
    loss: Annotated[
        str | None, typer.Option(help="What the throughput may lose, such as 0.002%; else nothing.")
    ] = None,
    reset_command: Annotated[
        str | None, typer.Option(help="A program with its arguments that resets the DUT.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Seconds instead of the standard's durations.")
    ] = False,
    set_fields: SetOption = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with this run after its last trial.")
    ] = None,
    runs: RunsOption = Path("runs"),
    tag: TagsOption = None,
    metrics_port: MetricsPortOption = None,
    json: JsonOption = False,
) -> None:
    """Throughput, latency, frame loss, back-to-back frames, recovery and reset, per RFC 2544.

    The durations are the standard's own: with all tests and sizes, days. --quick takes minutes,
    and says in every report by how much it falls short.

    Exits with 0 when all was measured, with 1 when the DUT kept something from being measured,
    such as a throughput, with 5 when the tester did.
    """
    given = {
        "tests": tests,
        "sizes": sizes,
        "imix": imix,
        "maximum": maximum,
        "loss": loss,
        "reset_command": reset_command,
    }
    with serving(metrics_port) as live:
        if resume is None:
            named = given_experiment(_COMMAND, experiment, set_fields)
            settings = _settings(given, quick)
            check_rfc2544(named, settings)
            asked = new_run(_COMMAND, named, settings, runs)
        else:
            others = any((experiment, set_fields, quick, *given.values()))
            asked = resumed_run(_COMMAND, resume, Rfc2544Settings, others_given=others)
        tag_run(asked.directory, tag)
        _run(asked, live, json)


def _run(asked: Asked[Rfc2544Settings], live: LiveMetrics | None, json: bool) -> None:
    with running_standard(_COMMAND, asked.directory, live), progress_on(stderr) as progress:
        result = run_rfc2544(asked.experiment, asked.settings, asked.directory, progress)
    print_outcome(result, rfc2544_answer(asked.directory), asked.directory, json)
    end_by(result.verdict)


def _settings(given: dict[str, str | None], quick: bool) -> Rfc2544Settings:
    settings = Rfc2544Settings.quickly() if quick else Rfc2544Settings()
    if given["imix"] is not None and given["sizes"] is not None:
        raise InputError(
            "a mix takes the place of sizes", where="--imix", remedy="give --sizes or --imix"
        )
    update: dict[str, Any] = {"imix": given["imix"]}
    if given["tests"] is not None:
        update["tests"] = _parse_tests(given["tests"])
    if given["sizes"] is not None:
        update["sizes"] = parse_sizes("--sizes", given["sizes"])
    if given["maximum"] is not None:
        update["maximum"] = parse_option("--maximum", parse_rate, given["maximum"])
    if given["loss"] is not None:
        ratio = parse_option("--loss", parse_ratio, given["loss"])
        update["throughput"] = settings.throughput.model_copy(update={"loss_ratio": ratio})
    if given["reset_command"] is not None:
        command = _parse_command(given["reset_command"])
        update["reset"] = settings.reset.model_copy(update={"command": command})
    return settings.model_copy(update=update)


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
