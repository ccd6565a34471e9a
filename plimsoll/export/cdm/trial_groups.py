"""Which trials of a run share their parameters, and which of them the result rests on."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.record.trials.trial_record import TrialRecord

# These prepare the trials that come after them, and are listed with those.
_PREPARING = frozenset({"calibration", "warmup", "teaching", "ceiling", "baseline"})

FrameSizes = tuple[tuple[int, int], ...]


def by_parameters(trials: Sequence[TrialRecord]) -> list[list[TrialRecord]]:
    """The trials by test and frames, in the order in which each combination first came."""
    groups: dict[object, list[TrialRecord]] = {}
    preparing: list[TrialRecord] = []
    key: object = None
    for trial in trials:
        preparing.append(trial)
        if trial.phase not in _PREPARING:
            key = (test_of(trial), frames_of(trial))
            groups.setdefault(key, []).extend(preparing)
            preparing = []
    if preparing:
        groups.setdefault(key, []).extend(preparing)
    return list(groups.values())


def primary(trials: Sequence[TrialRecord], proof: int | None = None) -> TrialRecord | None:
    """The trial that the result rests on: number `proof`, or else the last that passed.

    One that was to validate comes before all others; where none passed, it is the last.
    None where all were but preparing, or there are none.
    """
    judged = [trial for trial in trials if trial.phase not in _PREPARING]
    passed = [trial for trial in judged if trial.verdict == "pass"]
    validated = [trial for trial in passed if trial.phase == "validation"]
    proofs = [trial for trial in judged if trial.number == proof]
    return next((some[-1] for some in (proofs, validated, passed, judged) if some), None)


def measuring(trials: Sequence[TrialRecord]) -> list[TrialRecord]:
    """Those that did not just prepare others."""
    return [trial for trial in trials if trial.phase not in _PREPARING]


def test_of(trial: TrialRecord) -> str:
    """The part of a standard test that it belongs to, such as throughput; else empty."""
    return (trial.step or "").partition("/")[0]


def frames_of(trial: TrialRecord) -> FrameSizes:
    """The sizes that its load streams send, in bytes with FCS, each with its weight."""
    sizes = {
        (each.size, each.weight)
        for stream in trial.streams
        if stream.role == "load"
        for each in stream.frame_sizes
    }
    return tuple(sorted(sizes))
