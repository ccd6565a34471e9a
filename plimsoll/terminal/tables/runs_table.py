"""The index of runs on the terminal: a row a run, and below it what cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.text import Text

from plimsoll.record.index.run_entry import RunEntry, RunState
from plimsoll.record.run.file_check import FileDamage
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.text.counted import age
from plimsoll.text.plain_text import plain_text

# Of answers that are none.
_VERDICT_STYLES: dict[Verdict, str] = {"fail": "red", "invalid": "yellow"}
_NS_PER_S = 10**9
_NS_PER_US = 1000
STATE_STYLES: dict[RunState, str] = {
    "running": "cyan",
    "finished": "green",
    "stopped": "yellow",
    "damaged": "red",
}


def shown(text: str, style: str = "", most: int | None = None) -> Text:
    """Text from a run, which may be anybody's: neither markup nor able to drive a terminal."""
    return Text(plain_text(text, most), style)


def damage_text(damage: FileDamage) -> Text:
    """One line: which file, and what is wrong with it."""
    where = shown(f"{damage.path}: ")
    return Text.assemble(("damaged: ", "bold red")) + where + shown(damage.reason)


def answer_text(entry: RunEntry) -> Text:
    """What the run found; a dash where it has found nothing yet."""
    summary = entry.summary
    if summary is None or summary.answer is None:
        return Text("-", "dim")
    return shown(summary.answer.text, _VERDICT_STYLES.get(summary.verdict, ""))


def dut_text(entry: RunEntry) -> Text:
    """The kind of lab, and which DUT is simulated in it."""
    summary = entry.summary
    named = [part for part in (summary.dut, summary.model) if part] if summary else []
    return shown("/".join(named)) if named else Text("-", "dim")


def state_text(entry: RunEntry) -> Text:
    """In its colour."""
    return Text(entry.state, STATE_STYLES[entry.state])


def tags_text(entry: RunEntry, most: int | None = None) -> Text:
    """All tags, one after the other, cut to `most` characters."""
    return shown(" ".join(f"{key}={value}" for key, value in entry.notes.tags.items()), most=most)


def moment(unix_ns: int | None) -> str | None:
    """As ISO 8601 has it, in UTC, to the second."""
    if unix_ns is None:
        return None
    return f"{datetime.fromtimestamp(unix_ns // _NS_PER_S, UTC):%Y-%m-%dT%H:%M:%SZ}"


def entry_json(entry: RunEntry) -> dict[str, Any]:
    """All that is known of the run, as docs/runs.md describes it."""
    summary = entry.summary
    facts = (
        {
            "method": None,
            "name": None,
            "dut": None,
            "model": None,
            "began": moment(entry.began_unix_ns),
            "ended": None,
            "answer": None,
            "verdict": "none",
            "period": None,
            "trials": None,
            "versions": {},
        }
        if summary is None
        else {
            "method": summary.method,
            "name": summary.name,
            "dut": summary.dut,
            "model": summary.model,
            "began": moment(summary.began_unix_ns),
            "ended": moment(summary.ended_unix_ns),
            "answer": summary.answer and asdict(summary.answer),
            "verdict": summary.verdict,
            "period": summary.period,
            "trials": summary.trials,
            "versions": dict(summary.versions),
        }
    )
    return {
        "id": entry.run_id,
        "path": str(entry.run.path),
        "state": entry.state,
        **facts,
        "tags": dict(entry.notes.tags),
        "notes": [{"at": moment(note.at_unix_ns), "text": note.text} for note in entry.notes.notes],
        "damage": [asdict(each) for each in entry.damage],
    }


_GAP = Text("  ")
# Of names and tags, which could push everything else off a terminal.
_MAX_NAME = 40
_MAX_TAGS = 60
_Row = Sequence[Text]


@dataclass(frozen=True, slots=True)
class RunsTable:
    """Runs as they come: a row each, or two lines each where a row would not fit the width.

    The name has a column where some id does not tell it.
    """

    entries: Sequence[RunEntry]
    now: datetime

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """No cell is folded, as long as an id and an answer fit side by side."""
        lines = list(_aligned(list(self._rows())))
        if max(line.cell_len for line in lines) <= options.max_width:
            yield from lines
            return
        heads, *firsts = _aligned([_bold("run", "began", "state", "answer"), *self._firsts()])
        yield heads
        for first, entry in zip(firsts, self.entries, strict=True):
            yield first
            yield Padding(_rest(entry), (0, 0, 0, 2))

    def _rows(self) -> Iterator[_Row]:
        """The heads, and all that is shown of each run."""
        named = not all(_named_by_id(entry) for entry in self.entries)
        tagged = any(entry.notes.tags for entry in self.entries)
        name, tags = ["name"] if named else [], ["tags"] if tagged else []
        yield _bold("run", "began", "method", *name, "DUT", "answer", "state", *tags)
        for entry in self.entries:
            yield (
                *self._id_and_age(entry),
                _method(entry),
                *([_name(entry)] if named else []),
                dut_text(entry),
                answer_text(entry),
                state_text(entry),
                *([tags_text(entry, _MAX_TAGS)] if tagged else []),
            )

    def _firsts(self) -> Iterator[_Row]:
        """What is looked for most."""
        for entry in self.entries:
            yield (*self._id_and_age(entry), state_text(entry), answer_text(entry))

    def _id_and_age(self, entry: RunEntry) -> _Row:
        return shown(entry.run_id, "bold"), Text(age(entry.began_unix_ns, self.now))


def print_damage(entries: Sequence[RunEntry], console: Console) -> None:
    """What cannot be read of them: where, why, and what to do."""
    for entry in entries:
        for damage in entry.damage:
            said = Text.assemble(("damaged: ", "bold red"), shown(f"{damage.where}: "))
            console.print(said + shown(damage.reason), soft_wrap=True)
            console.print(Text("  remedy: ", "bold") + shown(damage.remedy), soft_wrap=True)


def _aligned(rows: Sequence[_Row]) -> Iterator[Text]:
    """Each row in one line, its cells below those of the others."""
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.copy() for cell in row]
        for cell, width in zip(cells[:-1], widths[:-1], strict=True):
            cell.pad_right(width - cell.cell_len)
        yield _GAP.join(cells)


def _rest(entry: RunEntry) -> Text:
    """What stands in the second line: method, DUT, name and tags, as far as known."""
    name = [] if _named_by_id(entry) else [_name(entry)]
    parts = [_method(entry), dut_text(entry), *name, tags_text(entry)]
    rest = _GAP.join(part for part in parts if part.plain)
    rest.stylize("dim")
    return rest


def _method(entry: RunEntry) -> Text:
    method = entry.summary.method if entry.summary else None
    return shown(method or "-", most=_MAX_NAME)


def _name(entry: RunEntry) -> Text:
    return shown(entry.summary.name if entry.summary else "-", most=_MAX_NAME)


def _named_by_id(entry: RunEntry) -> bool:
    """As RunDirectory.create makes ids: time, name, and what the command adds."""
    return entry.summary is None or f"-{entry.summary.name}" in entry.run_id


def _bold(*heads: str) -> _Row:
    return [Text(head, "bold") for head in heads]
