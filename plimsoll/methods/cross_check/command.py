"""`plimsoll cross-check`: whose figure is wrong? Several generators held against each other."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.experiment.loads import load_in_pps
from plimsoll.errors import InputError
from plimsoll.methods.cross_check.page import cross_check_answer
from plimsoll.methods.cross_check.result import METHOD
from plimsoll.methods.cross_check.run import check_cross_check, run_cross_check
from plimsoll.methods.cross_check.settings import CrossCheckSettings, generator_sections
from plimsoll.terminal.commands.standard_command import StandardCommand
from plimsoll.terminal.options.options import parse_option
from plimsoll.terminal.output import stdout
from plimsoll.terminal.tables.figure_table import print_sections
from plimsoll.text.document import parse_value
from plimsoll.text.units import parse_duration, parse_rate

_WITH = "write KIND.FIELD=VALUE, as in trex.tree=/opt/trex/v3.08"


def _settings(
    experiment: Experiment,
    *,
    generators: Annotated[
        str, typer.Option(help="Kinds, separated by commas (plimsoll generators lists them).")
    ] = "engine,testpmd",
    fields: Annotated[
        list[str] | None,
        typer.Option("--with", help="A field of one of them: trex.tree=/opt/trex/v3.08."),
    ] = None,
    load: Annotated[
        str | None,
        typer.Option(help="Per direction; the lowest load of the experiment's search by default."),
    ] = None,
    duration: Annotated[str, typer.Option(help="Of each trial.")] = "5s",
    rounds: Annotated[int, typer.Option(help="Trials of each generator in each stage.")] = 3,
) -> CrossCheckSettings:
    """Send one profile by several generators in turn, on the same ports, and compare.

    Those that pace send it at one load; those that can do so send its load unpaced. Says in which
    figures they differ by more than they vary themselves, and what the DUT's own counters say about
    which side is off. Exits with 0 if all were measured, with 5 if one of them had no valid trial.
    """
    rate = experiment.search.minimum if load is None else parse_option("--load", parse_rate, load)
    settings = CrossCheckSettings(
        generators=generator_sections(experiment, generators, _fields(fields or ())),
        load_pps=load_in_pps(rate, experiment.profile, None, "--load"),
        rounds=rounds,
        trial_s=parse_option("--duration", parse_duration, duration),
    )
    check_cross_check(experiment, settings)
    return settings


def _fields(written: list[str] | tuple[()]) -> dict[str, dict[str, Any]]:
    """By kind and field. Raises InputError for one that is not of that form."""
    found: dict[str, dict[str, Any]] = {}
    for each in written:
        name, equals, value = each.partition("=")
        kind, dot, field = name.partition(".")
        if not (equals and dot and kind and field):
            raise InputError(f"found {each!r}", where="--with", remedy=_WITH)
        found.setdefault(kind, {})[field] = parse_value(value, f"--with {name}")
    return found


add_to = StandardCommand(
    METHOD,
    model=CrossCheckSettings,
    settings=_settings,
    run=run_cross_check,
    show=lambda _, run: print_sections(cross_check_answer(run), stdout),
    example="plimsoll cross-check examples/demo.yaml --generators engine,testpmd",
    examples=(
        "plimsoll cross-check examples/demo.yaml --generators engine,testpmd",
        "plimsoll cross-check experiment.yaml --generators engine,trex --with trex.tree=/opt/trex",
    ),
).add_to
