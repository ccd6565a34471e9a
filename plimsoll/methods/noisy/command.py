"""`plimsoll noisy`: what its noise does to an experiment's answer."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.analysis.comparison.side import invalid_runs
from plimsoll.analysis.comparison.words import sentences
from plimsoll.methods.matrix.many_runs import MatrixCommand
from plimsoll.methods.matrix.plan import begin_matrix
from plimsoll.methods.matrix.run import MatrixEnd, RunAll, run_samples
from plimsoll.methods.noisy.document import load_noisy_matrix
from plimsoll.methods.noisy.result import METHOD, NoisyResult
from plimsoll.methods.noisy.run import noise_effect, noisy_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.terminal.commands.running import serving
from plimsoll.terminal.options.options import (
    JsonOption,
    MetricsPortOption,
    RunsOption,
    SetOption,
    TagsOption,
    tag_run,
)
from plimsoll.terminal.output import stderr, stdout
from plimsoll.terminal.tables.comparison_table import figures_table
from plimsoll.text.plain_text import plain_text

_EPILOG = (
    "Examples: **plimsoll noisy experiment.yaml --repetitions 5** · "
    "**plimsoll noisy --resume runs/20260101T120000-experiment**"
)

_COMMAND = MatrixCommand(METHOD, "experiment.yaml", kept="finished runs are kept")


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(epilog=_EPILOG)(noisy)


def noisy(
    experiment: Annotated[
        Path | None, typer.Argument(help="The experiment, with its neighbours under noise (YAML).")
    ] = None,
    *,
    repetitions: Annotated[
        int, typer.Option(min=1, max=1000, help="Runs of each side; four can show a difference.")
    ] = 4,
    set_fields: SetOption = None,
    resume: Annotated[
        Path | None, typer.Option(help="Run what this run has left or failed.")
    ] = None,
    runs: RunsOption = Path("runs"),
    tag: TagsOption = None,
    metrics_port: MetricsPortOption = None,
    json: JsonOption = False,
) -> None:
    """Run an experiment without its noise and with it, by turns, and compare.

    The run is a matrix: quiet, noisy, noisy, quiet, and so on. A difference counts where its
    95 % interval leaves out zero. Latency is that at each run's own load line.

    Exits as plimsoll matrix does.
    """
    fields = set_fields or ()
    with serving(metrics_port) as live:
        directory = _COMMAND.what_to_run(
            experiment,
            resume,
            fields,
            lambda path: begin_matrix(load_noisy_matrix(path, repetitions, fields), runs, METHOD),
        )
        tag_run(directory, tag)
        with _COMMAND.going_on(directory, live, json=json) as (progress, hooks):
            result = run_samples(directory, progress, hooks, _END, RunAll())
    _COMMAND.hand_over(result, directory, partial(_show, result, directory), json=json)


def _is_over(result: NoisyResult) -> bool:
    return all(each.error is None for each in result.samples)


_END = MatrixEnd(METHOD, noisy_result, _is_over)


def _show(result: NoisyResult, directory: RunDirectory) -> None:
    if result.unknown is not None:
        stderr.print(f"no comparison: {plain_text(result.unknown)}", soft_wrap=True)
        return
    found = noise_effect(directory, result.iterations).comparison
    stdout.print(figures_table(found))
    stdout.print()
    for sentence in sentences(found):
        stdout.print(sentence, soft_wrap=True)
    for label, causes in result.causes.items():
        stdout.print(plain_text(f"{label}: {causes}"), soft_wrap=True)
    for warning in invalid_runs(found.sides):
        stderr.print(warning, soft_wrap=True)
