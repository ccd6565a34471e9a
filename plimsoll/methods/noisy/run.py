"""What noise did, as the result of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.analysis.comparison.comparison import Comparison, compare
from plimsoll.analysis.comparison.side import Side
from plimsoll.attribution.ranking.summary import limit_sentence, summarise
from plimsoll.attribution.ranking.trial_causes import SPIKES_FROM_NS
from plimsoll.benchmark.session.session import versions
from plimsoll.errors import InputError
from plimsoll.methods.matrix.plan import MatrixPlan
from plimsoll.methods.matrix.result import NOISE_FIELD, IterationResult
from plimsoll.methods.noisy.result import NoiseDifference, NoisyResult
from plimsoll.record.causes.causes_record import TrialCauses, read_causes
from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.run.run_directory import RunDirectory

LABELS = ("quiet", "noisy")


@dataclass(frozen=True, slots=True)
class NoiseEffect:
    """`comparison` has the quiet side first; `causes` are a sentence of each side, by its label."""

    comparison: Comparison
    causes: dict[str, str]


def noise_effect(run: RunDirectory, iterations: Sequence[IterationResult]) -> NoiseEffect:
    """Of the two iterations of a run that `plimsoll noisy` has made.

    Raises InputError where it is another matrix, or where no run of a side has come to its end,
    and RecordError for a damaged record.
    """
    if not _vary_noise_alone(iterations):
        raise InputError(
            f"this matrix must vary only {NOISE_FIELD}, between off and on",
            where=str(run.path),
            remedy="use plimsoll matrix --resume, or start a run with plimsoll noisy",
        )
    sides = [
        _side(run, label, iteration) for label, iteration in zip(LABELS, iterations, strict=True)
    ]
    return NoiseEffect(compare(sides), {side.label: runs_causes(side.runs) for side in sides})


def runs_causes(runs: Sequence[RunEntry]) -> str:
    """What had the polled CPUs: of the losses of all trials, else of their spikes, or stalls.

    Raises RecordError for a damaged record.
    """
    return limit_sentence(summarise(tuple(_recorded(runs)), SPIKES_FROM_NS))


def _vary_noise_alone(iterations: Sequence[IterationResult]) -> bool:
    """Whether there are two that differ in the experiment's noise alone, the first without."""
    params = [each.params for each in iterations]
    return len(params) == 2 and params[0] == {NOISE_FIELD: []} and params[1].keys() == {NOISE_FIELD}


def _side(run: RunDirectory, label: str, iteration: IterationResult) -> Side:
    found: list[RunEntry] = []
    for sample in iteration.samples:
        entry = entry_of(sample.directory, run.path / sample.directory)
        if entry.state == "finished":
            found.append(entry)
    if not found:
        raise InputError(
            f"no {label} run has finished",
            where=str(run.path),
            remedy="plimsoll noisy --resume runs again what had failed",
        )
    return Side(label, tuple(found))


def _recorded(runs: Sequence[RunEntry]) -> Iterator[TrialCauses]:
    for entry in runs:
        yield from read_causes(entry.run)


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
