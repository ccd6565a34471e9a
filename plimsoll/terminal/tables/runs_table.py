"""The index of runs on the terminal: a row a run, and below it what cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.text import Text

from plimsoll.record.index.run_entry import RunEntry
from plimsoll.terminal.tables.run_words import (
    answer_text,
    dut_text,
    shown,
    state_text,
    tags_text,
)
from plimsoll.text.counted import age

_GAP = Text("  ")
# Of names and tags, which could push everything else off a terminal.
_MOST_NAME = 40
_MOST_TAGS = 60
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
                *([tags_text(entry, _MOST_TAGS)] if tagged else []),
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
    return shown(method or "-", most=_MOST_NAME)


def _name(entry: RunEntry) -> Text:
    return shown(entry.summary.name if entry.summary else "-", most=_MOST_NAME)


def _named_by_id(entry: RunEntry) -> bool:
    """As RunDirectory.create makes ids: time, name, and what the command adds."""
    return entry.summary is None or f"-{entry.summary.name}" in entry.run_id


def _bold(*heads: str) -> _Row:
    return [Text(head, "bold") for head in heads]
