"""The tables of a standard test's report, on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from plimsoll.report.pages.standard.sections import PageAnswer, SectionTable
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn


def print_sections(answer: PageAnswer, console: Console) -> None:
    """The answer, and every section's sentences and tables; long tables stay in the report."""
    console.print()
    console.print(Text(answer.heading, "bold"))
    for warning in answer.warnings:
        console.print(Text(warning, "bold yellow"), soft_wrap=True)
    for sentence in answer.sentences:
        console.print(Text(sentence), soft_wrap=True)
    for section in answer.sections:
        for table in section.tables:
            if not table.long:
                console.print()
                console.print(_figure_table(section.title, table))
        for sentence in section.sentences:
            console.print(Text(sentence, "dim"), soft_wrap=True)


def _figure_table(section: str, table: SectionTable) -> FigureTable:
    title = f"{section}: {table.title}" if table.title else section
    columns = [
        TableColumn(each.name, "right" if each.number else "left", wraps=each.wraps)
        for each in table.columns
    ]
    made = FigureTable(title, columns)
    for row in table.rows:
        made.add_row(*row)
    return made
