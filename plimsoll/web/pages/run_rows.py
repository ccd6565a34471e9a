"""The list of runs: a row each, and what it can be filtered by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import get_args
from urllib.parse import quote

from plimsoll.errors import InputError
from plimsoll.record.index.find import RunFilter, SortKey
from plimsoll.record.index.run_entry import Damage, RunEntry, RunState
from plimsoll.record.index.run_notes import parse_tag, parse_tag_key
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.text.counted import age
from plimsoll.text.plain_text import plain_text

_NS_PER_S = 10**9
STATES: Sequence[RunState] = get_args(RunState)
VERDICTS: Sequence[Verdict] = get_args(Verdict)
SORTS: Sequence[SortKey] = get_args(SortKey)


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as a list shows it. `address` is its page's."""

    run_id: str
    address: str
    name: str
    method: str
    dut: str
    began: str
    ago: str
    answer: str
    verdict: Verdict
    state: RunState
    tags: Mapping[str, str]
    damage: tuple[Damage, ...]


@dataclass(frozen=True, slots=True)
class FilterForm:
    """What the user has put into the form above the list; empty is everything."""

    name: str = ""
    state: str = ""
    method: str = ""
    verdict: str = ""
    dut: str = ""
    tag: str = ""
    sort: SortKey = "began"

    @classmethod
    def of(cls, query: Mapping[str, str]) -> FilterForm:
        """From an address; an unknown order is the usual one."""

        def text(name: str) -> str:
            return query.get(name, "").strip()

        return cls(
            name=text("name"),
            state=text("state"),
            method=text("method"),
            verdict=text("verdict"),
            dut=text("dut"),
            tag=text("tag"),
            sort=next((each for each in SORTS if each == text("sort")), SORTS[0]),
        )

    def selection(self) -> RunFilter:
        """The filter. Raises InputError for a tag that is none."""
        return RunFilter(
            tags=_tags(self.tag),
            duts=(self.dut,) if self.dut else (),
            methods=(self.method,) if self.method else (),
            verdicts=tuple(each for each in VERDICTS if each == self.verdict),
            states=tuple(each for each in STATES if each == self.state),
            name=_pattern(self.name),
        )

    @property
    def narrows(self) -> bool:
        """Whether anything but the order was chosen."""
        return self != FilterForm(sort=self.sort)


def run_address(run_id: str, page: str = "") -> str:
    """The address of a run's page, or of one below it."""
    return f"/runs/{quote(run_id)}/{page}"


def run_row(entry: RunEntry, now: datetime) -> RunRow:
    """The row of a run in any state."""
    summary = entry.summary
    named = [part for part in (summary.dut, summary.model) if part] if summary else []
    return RunRow(
        run_id=plain_text(entry.run_id),
        address=run_address(entry.run_id),
        name=summary.name if summary else plain_text(entry.run_id),
        method=(summary.method if summary else None) or "-",
        dut="/".join(named) or "-",
        began=_moment(entry.began_unix_ns),
        ago=age(entry.began_unix_ns, now),
        answer=summary.answer.text if summary and summary.answer else "-",
        verdict=summary.verdict if summary else "none",
        state=entry.state,
        tags=dict(entry.notes.tags),
        damage=entry.damage,
    )


def known_values(entries: Iterable[RunEntry]) -> Mapping[str, Sequence[str]]:
    """What the form offers: methods, DUTs and tags that there are."""
    listed = list(entries)
    summaries = [entry.summary for entry in listed if entry.summary]
    tags = {f"{k}={v}" for entry in listed for k, v in entry.notes.tags.items()}
    return {
        "methods": sorted({each.method for each in summaries if each.method}),
        "duts": sorted({each.dut for each in summaries if each.dut}),
        "tags": sorted(tags),
    }


def _pattern(name: str) -> str | None:
    """A shell pattern as it is; a plain word anywhere in the name."""
    if not name:
        return None
    return name if set(name) & set("*?[") else f"*{name}*"


def _tags(text: str) -> tuple[tuple[str, str | None], ...]:
    if not text:
        return ()
    try:
        return (parse_tag(text) if "=" in text else (parse_tag_key(text), None),)
    except InputError as error:
        raise InputError(error.message, where="tag", remedy=error.remedy) from None


def _moment(unix_ns: int | None) -> str:
    if unix_ns is None:
        return "-"
    return f"{datetime.fromtimestamp(unix_ns // _NS_PER_S, UTC):%Y-%m-%d %H:%M} UTC"
