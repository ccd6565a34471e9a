"""`plimsoll trial`: one trial at one load."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.benchmark.experiment.reading_interval import check_readings
from plimsoll.benchmark.experiment.trial_settings import check_trial_duration
from plimsoll.benchmark.whole_run.preflight import check_trial
from plimsoll.host.ledger.ledger import sweep
from plimsoll.methods.trial.run import run_single_trial
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report import write_report
from plimsoll.terminal.commands.running import progress_on, serving
from plimsoll.terminal.exit_codes import end_by
from plimsoll.terminal.options.options import (
    MetricsPortOption,
    RunsOption,
    SetOption,
    TagsOption,
    parse_option,
    tag_run,
)
from plimsoll.terminal.output import stderr, stdout
from plimsoll.terminal.tables.stream_table import stream_tables
from plimsoll.terminal.tables.trial_table import trial_table
from plimsoll.text.units import parse_duration, parse_rate

_EPILOG = (
    "Examples: **plimsoll trial examples/demo.yaml --load 500kpps --duration 5s** · "
    "**plimsoll trial experiment.yaml --load 60% --duration 1m --json**"
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(trial)


def trial(
    experiment: Annotated[Path, typer.Argument(help="The experiment (YAML).")],
    *,
    load: Annotated[str, typer.Option(help="Per direction: 500kpps, 2Gbps, 60%, 1.5x.")],
    duration: Annotated[str, typer.Option(help="How long to send: 5s, 2m.")] = "5s",
    set_fields: SetOption = None,
    runs: RunsOption = Path("runs"),
    tag: TagsOption = None,
    metrics_port: MetricsPortOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the trial as JSON.")] = False,
) -> None:
    """Run one trial, without a search, and judge it by the experiment's criteria.

    Exits with 0 if it passed, with 1 if it failed, with 5 if it was invalid.
    """
    planned = load_experiment(experiment, set_fields or ())
    rate = parse_option("--load", parse_rate, load)
    duration_s = check_trial_duration(
        parse_option("--duration", parse_duration, duration), "--duration"
    )
    check_trial(planned, rate, "--load")
    check_readings(planned, {"--duration": duration_s})
    with serving(metrics_port) as live:
        sweep()
        directory = RunDirectory.create(runs, f"{planned.name}-trial", planned.normalised())
        tag_run(directory, tag)
        if live is not None:
            live.show(directory)
        with progress_on(stderr, live=not json) as progress:
            record = run_single_trial(planned, directory, rate, duration_s, progress)
    page = write_report(directory)
    _print(record, page, json)
    end_by(record.verdict)


def _print(record: TrialRecord, page: Path, json: bool) -> None:
    if json:
        typer.echo(record.model_dump_json(indent=2))
        return
    stdout.print()
    stdout.print(trial_table([record]))
    stdout.print()
    stdout.print(stream_tables(record))
    stdout.print(f"\nreport: {page}", soft_wrap=True, highlight=False)
