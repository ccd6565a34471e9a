"""What noise did: the runs of a matrix without it against those with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.analysis.comparison.comparison import Comparison, compare
from plimsoll.analysis.comparison.side import Side
from plimsoll.attribution.ranking.limit_sentence import limit_sentence
from plimsoll.attribution.ranking.summary import summarise
from plimsoll.attribution.ranking.trial_causes import SPIKES_FROM_NS
from plimsoll.errors import InputError
from plimsoll.record.causes.causes_record import TrialCauses, read_causes
from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.results.matrix_result import NOISE_FIELD, IterationResult, MatrixResult
from plimsoll.record.run.run_directory import RunDirectory

LABELS = ("quiet", "noisy")


@dataclass(frozen=True, slots=True)
class NoiseEffect:
    """`comparison` has the quiet side first; `causes` are a sentence of each side, by its label."""

    comparison: Comparison
    causes: dict[str, str]


def noise_effect(run: RunDirectory, result: MatrixResult) -> NoiseEffect:
    """Of a run that `plimsoll noisy` has made.

    Raises InputError where it is another matrix, or where no run of a side has come to its end,
    and RecordError for a damaged record.
    """
    if not result.compares_noise:
        raise InputError(
            f"this matrix does not vary {NOISE_FIELD} alone, from none to some",
            where=str(run.path),
            remedy="use plimsoll matrix --resume, or start a run with plimsoll noisy",
        )
    sides = [
        _side(run, label, iteration)
        for label, iteration in zip(LABELS, result.iterations, strict=True)
    ]
    return NoiseEffect(compare(sides), {side.label: _causes(side) for side in sides})


def _side(run: RunDirectory, label: str, iteration: IterationResult) -> Side:
    found: list[RunEntry] = []
    for sample in iteration.samples:
        entry = entry_of(sample.directory, run.path / sample.directory)
        if entry.state == "finished":
            found.append(entry)
    if not found:
        raise InputError(
            f"no {label} run has come to its end",
            where=str(run.path),
            remedy="plimsoll noisy --resume runs again what had failed",
        )
    return Side(label, tuple(found))


def _causes(side: Side) -> str:
    """Of the losses of all trials of the side's runs, else of their spikes, else of stalls."""
    return limit_sentence(summarise(tuple(_recorded(side)), SPIKES_FROM_NS))


def _recorded(side: Side) -> Iterator[TrialCauses]:
    for entry in side.runs:
        yield from read_causes(entry.run)
