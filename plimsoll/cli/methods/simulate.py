"""`plimsoll simulate`: search a simulated DUT, whose true load line is known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.benchmark.whole_run.preflight import check_search
from plimsoll.benchmark.whole_run.simulation import (
    Simulated,
    SimulationRequest,
    parse_settings,
)
from plimsoll.errors import InputError
from plimsoll.host.ledger.scratch import scratch_folder
from plimsoll.methods.load_line.run import find_load_line
from plimsoll.methods.load_line.terminal_summary import print_result
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.report import write_report
from plimsoll.search.registry import strategies
from plimsoll.search.simulated.models.registry import model_kinds
from plimsoll.terminal.commands.running import Progress
from plimsoll.terminal.exit_codes import end_by
from plimsoll.terminal.options.options import parse_option
from plimsoll.terminal.output import stderr, stdout
from plimsoll.text.units import (
    format_duration,
    format_pps,
    format_ratio,
    parse_duration,
    parse_ratio,
)

# That of the truth where no validation says how long a load has to hold.
_HORIZON_S = 10_800.0
_EPILOG = (
    "Examples: **plimsoll simulate --list** · "
    "**plimsoll simulate rare-stalls --strategy load-line --loss 0 --validation 3h** · "
    "**plimsoll simulate soft-knee --seed 7 --set knee=2% --set search.width=1%**"
)

_ModelArgument = Annotated[
    str | None, typer.Argument(help="The simulated DUT; --list shows them all.")
]
_StrategyOption = Annotated[str | None, typer.Option(help=f"One of {', '.join(strategies())}.")]
_SettingsOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="A field of the model, or of the experiment (search.width)."),
]
_ValidationOption = Annotated[
    str | None, typer.Option(help="Validate for this long, such as 60s or 3h.")
]
_LossOption = Annotated[
    str | None, typer.Option(help="The loss ratio allowed, such as 0 or 0.002%.")
]
_ExperimentOption = Annotated[
    Path | None,
    typer.Option(help="Take profile, criteria and search from this experiment (YAML)."),
]
_RunsOption = Annotated[
    Path | None, typer.Option(help="Keep the run below this directory; by default nowhere.")
]
_ListModelsOption = Annotated[
    bool, typer.Option("--list", help="Print the models and their fields.")
]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(simulate)


def simulate(  # noqa: PLR0917 - the options of the command
    model: _ModelArgument = None,
    strategy: _StrategyOption = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same run.", min=0)] = 0,
    settings: _SettingsOption = None,
    validation: _ValidationOption = None,
    loss: _LossOption = None,
    experiment: _ExperimentOption = None,
    runs: _RunsOption = None,
    list_models: _ListModelsOption = False,
    json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Search a simulated DUT in simulated time, and print its true load line next to the result.

    Nothing is sent and nothing of the machine is used. Exits as `plimsoll run` does: with 1 if the
    simulated DUT carried no load, with 5 if the result is inconclusive because of the simulated
    tester.
    """
    if list_models:
        _print_models()
        return
    if model is None:
        raise InputError(
            "name a model", where="plimsoll simulate", remedy="plimsoll simulate --list"
        )
    request = SimulationRequest(
        model=model,
        strategy=strategy,
        seed=seed,
        settings=parse_settings(settings or [], "--set"),
        validation_s=None
        if validation is None
        else parse_option("--validation", parse_duration, validation),
        loss=None if loss is None else parse_option("--loss", parse_ratio, loss),
    )
    base = None if experiment is None else load_experiment(experiment)
    to_run = request.experiment(base)
    check_search(to_run)
    with _runs_root(runs) as root:
        directory = RunDirectory.create(root, to_run.name, to_run.normalised())
        verdict = _find(to_run, directory, json)
        if runs is not None:
            stderr.print(f"report: {write_report(directory)}", soft_wrap=True, highlight=False)
    end_by(verdict)


@contextmanager
def _runs_root(runs: Path | None) -> Iterator[Path]:
    """Where to make the run directory; without `runs`, for the length of the block only."""
    if runs is not None:
        yield runs
        return
    with scratch_folder() as root:
        yield root


def _find(experiment: Experiment, directory: RunDirectory, json: bool) -> Verdict:
    """Run the search and print what it found; the verdict on that."""
    result = find_load_line(experiment, directory, Progress(stderr, None))
    trials = read_journal(directory.journal).trials()
    validation = experiment.search.validation
    horizon_s = _HORIZON_S if validation is None else max(_HORIZON_S, validation.duration)
    found = Simulated.of(experiment, result, trials, horizon_s)
    if json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        print_result(result, trials, stdout)
        stdout.print(_panel(found))
    return result.verdict


def _panel(found: Simulated) -> Panel:
    """The truth next to what was found."""
    table = Table.grid(padding=(0, 2))
    for name, value in _lines(found):
        table.add_row(name, value)
    title = Text(f"Simulation: {found.model}, seed {found.seed}")
    return Panel(table, title=title, border_style="blue", expand=False)


def _lines(found: Simulated) -> Iterator[tuple[str, str]]:
    horizon = format_duration(found.horizon_s)
    if found.limit is None:
        yield "sustainable", "unknown: no criterion limits the loss ratio"
    else:
        said = "none" if found.sustainable_pps is None else format_pps(found.sustainable_pps)
        kept = f"at most {format_ratio(found.limit)} lost over {horizon}, in 95 of 100"
        yield "sustainable", f"{said} per direction ({kept})"
    if found.found_pps is not None:
        share = "" if found.found_share is None else f", {found.found_share:.4g} of that"
        yield "found", f"{format_pps(found.found_pps)} per direction{share}"
    if found.survival is not None:
        yield "survives", f"{horizon} with a probability of {found.survival:.3g}"
    yield "overhead", f"{format_duration(found.overhead_s)} before the trial that proved it"
    yield "in all", f"{format_duration(found.total_s)}, all of it simulated"


def _print_models() -> None:
    for kind, model in model_kinds().items():
        stdout.print(Text.assemble((kind, "bold"), f"  {model.summary}"), soft_wrap=True)
        fields = model().model_dump(mode="json")
        said = "  ".join(f"{name}={value}" for name, value in fields.items() if name != "kind")
        stdout.print(Text(f"  {said}", "dim"), soft_wrap=True)
