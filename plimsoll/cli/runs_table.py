"""The index of runs on the terminal: a row a run, and below it what cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll.cli.run_words import age, answer_text, dut_text, shown, state_text, tags_text
from plimsoll.record.index.run_entry import RunEntry

# Of a column that could push the others off a terminal.
_MOST_NAME = 40


def runs_table(entries: Sequence[RunEntry], now: datetime) -> Table:
    """One row each, as they come.

    The name has a column where it is not the end of every id already.
    """
    named = not all(_named_by_id(entry) for entry in entries)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("run", no_wrap=True, overflow="fold")
    table.add_column("began", no_wrap=True)
    table.add_column("method", no_wrap=True)
    if named:
        table.add_column("name", overflow="fold")
    table.add_column("DUT", overflow="fold")
    table.add_column("answer", overflow="fold")
    table.add_column("state", no_wrap=True)
    if any(entry.notes.tags for entry in entries):
        table.add_column("tags", overflow="fold")
    for entry in entries:
        table.add_row(*_cells(entry, now, named=named, tagged=len(table.columns) > 6 + named))
    return table


def print_damage(entries: Sequence[RunEntry], console: Console) -> None:
    """What cannot be read of them: where, why, and what to do."""
    for entry in entries:
        for damage in entry.damage:
            said = Text.assemble(("damaged: ", "bold red"), shown(f"{damage.where}: "))
            console.print(said + shown(damage.reason), soft_wrap=True)
            console.print(Text("  remedy: ", "bold") + shown(damage.remedy), soft_wrap=True)


def _cells(entry: RunEntry, now: datetime, *, named: bool, tagged: bool) -> list[Text]:
    summary = entry.summary
    name = shown(summary.name if summary else "", most=_MOST_NAME)
    return [
        shown(entry.run_id, "bold"),
        Text(age(entry.began_unix_ns, now)),
        shown(summary.method or "-" if summary else "-", most=_MOST_NAME),
        *([name] if named else []),
        dut_text(entry),
        answer_text(entry),
        state_text(entry),
        *([tags_text(entry)] if tagged else []),
    ]


def _named_by_id(entry: RunEntry) -> bool:
    """As RunDirectory.create makes ids: time, name, and what the command adds."""
    return entry.summary is None or f"-{entry.summary.name}" in entry.run_id
