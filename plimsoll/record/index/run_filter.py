"""Which runs of an index to list, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from plimsoll.record.index.run_entry import RunEntry, RunState
from plimsoll.record.index.run_summary import RunSummary
from plimsoll.record.trials.trial_record import Verdict

SortKey = Literal["began", "id", "method", "name", "dut", "answer", "state"]
# Before anything that is known; figures of different units are not compared.
_Rank = tuple[bool, str, float, str]


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Everything that is given must hold; an empty tuple asks for nothing.

    A tag without a value is a key that must be there. `duts` are kinds of lab, models of
    simulated DUTs, or both as in "simulated/rare-stalls"; `name` is a shell pattern for the
    run's name or id. A run began from `since_ns` on and before `until_ns` (UTC, ns since the
    epoch).
    """

    tags: tuple[tuple[str, str | None], ...] = ()
    duts: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    states: tuple[RunState, ...] = ()
    since_ns: int | None = None
    until_ns: int | None = None
    name: str | None = None

    def takes(self, entry: RunEntry) -> bool:
        """Whether the run passes the filter. An unknown value of a damaged run does not."""
        summary, began_ns = entry.summary, entry.began_unix_ns
        return (
            _one_of(entry.state, self.states)
            and _one_of(summary.verdict if summary else None, self.verdicts)
            and _one_of(summary.method if summary else None, self.methods)
            and (not self.duts or not _duts(summary).isdisjoint(self.duts))
            and (self.since_ns is None or (began_ns is not None and began_ns >= self.since_ns))
            and (self.until_ns is None or (began_ns is not None and began_ns < self.until_ns))
            and (self.name is None or _called(entry, self.name))
            and all(_tagged(entry.notes.tags, key, value) for key, value in self.tags)
        )


def in_order(entries: Iterable[RunEntry], by: SortKey, *, reverse: bool = False) -> list[RunEntry]:
    """By the key given, then by when they began, the last first; what is unknown comes last.

    By "began" and by "answer" the greatest is first. `reverse` turns all of it around, but
    what is unknown.
    """
    latest_first = sorted(entries, key=lambda e: (e.began_unix_ns or 0, e.run_id), reverse=True)
    rank = _RANKS[by]
    known = [entry for entry in latest_first if not rank(entry)[0]]
    unknown = [entry for entry in latest_first if rank(entry)[0]]
    known.sort(key=rank, reverse=reverse)
    return [*known, *unknown]


def _tagged(tags: Mapping[str, str], key: str, value: str | None) -> bool:
    return key in tags and (value is None or tags[key] == value)


def _one_of(value: str | None, accepted: Sequence[str]) -> bool:
    return not accepted or value in accepted


def _duts(summary: RunSummary | None) -> frozenset[str]:
    if summary is None or summary.dut is None:
        return frozenset()
    if summary.model is None:
        return frozenset({summary.dut})
    return frozenset({summary.dut, summary.model, f"{summary.dut}/{summary.model}"})


def _called(entry: RunEntry, pattern: str) -> bool:
    name = entry.summary.name if entry.summary else ""
    return fnmatchcase(name, pattern) or fnmatchcase(entry.run_id, pattern)


def _by_answer(entry: RunEntry) -> _Rank:
    answer = entry.summary.answer if entry.summary else None
    if answer is None or answer.value is None:
        return (True, "", 0.0, "")
    return (False, answer.unit, -answer.value, "")


def _by_time(entry: RunEntry) -> _Rank:
    return (entry.began_unix_ns is None, "", -float(entry.began_unix_ns or 0), "")


def _by_text(text: Callable[[RunEntry], str | None]) -> Callable[[RunEntry], _Rank]:
    return lambda entry: (text(entry) is None, text(entry) or "", 0.0, "")


_RANKS: Mapping[SortKey, Callable[[RunEntry], _Rank]] = {
    "began": _by_time,
    "answer": _by_answer,
    "id": _by_text(lambda entry: entry.run_id),
    "method": _by_text(lambda entry: entry.summary.method if entry.summary else None),
    "name": _by_text(lambda entry: entry.summary.name if entry.summary else None),
    "dut": _by_text(lambda entry: entry.summary.dut if entry.summary else None),
    "state": _by_text(lambda entry: entry.state),
}
