"""The trials behind a standard test's answer, during which its page shows the hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.record.run.journal import JournalContents
from plimsoll.record.run.primary_trial import primary_trial
from plimsoll.record.trials.trial_record import TrialRecord

_THROUGHPUT = "throughput"


@dataclass(frozen=True, slots=True)
class AnsweringTrials:
    """Trials by what they answer, such as "64 B", as the page lists them; `said` says which."""

    said: str
    by_answer: Mapping[str, TrialRecord]


def trials_of_frames(journal: JournalContents) -> AnsweringTrials:
    """Of each kind of frames the trial that proved the throughput, as the step's name has it.

    Where no throughput was looked for, or none was found yet, it is the most telling one.
    """
    by_frames: dict[str, list[TrialRecord]] = {}
    for trial in journal.trials():
        if frames := _frames_of(trial):
            by_frames.setdefault(frames, []).append(trial)
    chosen = {frames: _of_throughput(trials) for frames, trials in by_frames.items()}
    return AnsweringTrials(
        said="During the final trial of each frame size's throughput; where there is none, "
        "during the last that passed.",
        by_answer={frames_words(frames): trial for frames, trial in chosen.items() if trial},
    )


def frames_words(frames: str) -> str:
    """A kind of frames, as results name it, for people: "64 B", "imix simple"."""
    return frames if frames.startswith("imix") else f"{frames} B"


def _frames_of(trial: TrialRecord) -> str:
    """As in "throughput/64/3"; "" of trials that are of no step."""
    return (trial.step or "").partition("/")[2].partition("/")[0]


def _of_throughput(trials: Sequence[TrialRecord]) -> TrialRecord | None:
    """Bursts and overloads show less: they are short, or lose frames on purpose."""
    of_throughput = [trial for trial in trials if str(trial.step).startswith(f"{_THROUGHPUT}/")]
    return primary_trial(of_throughput or trials, None)
