"""What noise did, as the result of a run."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.analysis.comparison.comparison import Comparison
from plimsoll.benchmark.experiment.versions import versions
from plimsoll.errors import InputError
from plimsoll.methods.matrix.plan import MatrixPlan
from plimsoll.methods.matrix.result import IterationResult
from plimsoll.methods.noisy.effect import NoiseEffect, noise_effect
from plimsoll.methods.noisy.result import NoiseDifference, NoisyResult
from plimsoll.record.run.run_directory import RunDirectory


def noisy_result(
    run: RunDirectory, plan: MatrixPlan, iterations: tuple[IterationResult, ...]
) -> NoisyResult:
    """Of the two iterations. Raises RecordError for a damaged record of one of their runs."""
    effect: NoiseEffect | None = None
    unknown: str | None = None
    try:
        effect = noise_effect(run, iterations)
    except InputError as error:
        unknown = error.message
    return NoisyResult(
        run_id=run.run_id,
        name=plan.name,
        iterations=iterations,
        differences=() if effect is None else tuple(_differences(effect.comparison)),
        causes={} if effect is None else effect.causes,
        unknown=unknown,
        versions=versions(None),
    )


def _differences(found: Comparison) -> Iterator[NoiseDifference]:
    for figure in found.figures:
        (shift,), (judgement,) = figure.shifts, figure.judgements
        (conclusion,) = figure.conclusions
        quiet, noisy = figure.sides
        yield NoiseDifference(
            figure=figure.name,
            unit=figure.unit,
            better=figure.better,
            quiet=quiet.values,
            noisy=noisy.values,
            estimate=None if shift is None else shift.estimate,
            least=None if shift is None else shift.least,
            most=None if shift is None else shift.most,
            relative=shift.estimate / quiet.median if shift and quiet.median else None,
            judgement=judgement,
            conclusion=conclusion,
        )
