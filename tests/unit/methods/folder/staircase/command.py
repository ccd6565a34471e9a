from typing import Annotated

import typer
from plimsoll.methods.staircase.page import staircase_answer
from plimsoll.methods.staircase.result import METHOD
from plimsoll.methods.staircase.run import StaircaseSettings, run_staircase

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.terminal.commands.standard_command import StandardCommand
from plimsoll.terminal.options.options import parse_option
from plimsoll.terminal.output import stdout
from plimsoll.terminal.tables.figure_table import print_sections
from plimsoll.text.units import parse_rate


def _settings(
    experiment: Experiment,
    *,
    loads: Annotated[str | None, typer.Option(help="Loads, from the lowest.")] = None,
) -> StaircaseSettings:
    """Offer some loads, each for a second, and say what each of them loses."""
    if loads is None:
        return StaircaseSettings()
    rates = [parse_option("--loads", parse_rate, text) for text in loads.split(",")]
    return StaircaseSettings(loads_pps=tuple(rate.value for rate in rates))


add_to = StandardCommand(
    METHOD,
    model=StaircaseSettings,
    settings=_settings,
    run=run_staircase,
    show=lambda _, run: print_sections(staircase_answer(run), stdout),
    example="plimsoll staircase demo.yaml",
    examples=("plimsoll staircase demo.yaml --loads 1Mpps,2Mpps",),
).add_to
