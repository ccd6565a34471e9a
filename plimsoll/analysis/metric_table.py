"""The answer to a question to the metrics, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plimsoll.analysis.column import Column, name_column
from plimsoll.analysis.plain_table import PlainTable
from plimsoll.analysis.shown import html_note
from plimsoll.analysis.when import utc_of_ms
from plimsoll.record.query import QueryAnswer


class MetricTable(PlainTable):
    """A row for each series and window: run, source, type, breakouts, begin, end, value, how.

    The value is null in a window in which nothing was recorded. The last column, `aggregation`,
    says how it came about: mean, max, p99, or sum of means of several series. `answer` is the
    whole answer: unit, aggregation, runs that have no such metric or cannot be read.
    `remaining` are the names that could be broken out next, with how many values each has.
    """

    def __init__(self, answer: QueryAnswer, ids: Mapping[str, str]) -> None:
        """`ids` are what the runs are called, by their labels in the answer."""
        self.answer = answer
        self._silent = [ids.get(label, label) for label in answer.silent]
        breakouts = (name_column(each.name) for each in answer.query.breakouts)
        columns = (
            *(Column(name, "text") for name in ("run", "source", "type", *breakouts)),
            Column("begin", "time"),
            Column("end", "time"),
            Column("value", "number"),
            Column("aggregation", "text"),
        )
        unit = f", {answer.unit}" if answer.unit else ""
        title = f"{answer.query.source} {answer.query.type}{unit}"
        super().__init__(title, columns, _rows(answer, ids))

    @property
    def unit(self) -> str:
        """The values'."""
        return self.answer.unit

    @property
    def remaining(self) -> Mapping[str, int]:
        """Names of the series that are not breakouts, with how many values each has."""
        return self.answer.remaining

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *self._notes()])

    def _repr_html_(self) -> str:
        return super()._repr_html_() + "".join(map(html_note, self._notes()))

    def _notes(self) -> list[str]:
        answer, notes = self.answer, list(self.answer.notes)
        if answer.remaining:
            names = ", ".join(f"{name} ({count})" for name, count in answer.remaining.items())
            notes.append(f"Remaining breakouts: {names}")
        if self._silent:
            notes.append(f"Without this metric: {', '.join(self._silent)}")
        return [*notes, *(f"Left out: {failure.error}" for failure in answer.failures)]


def _rows(answer: QueryAnswer, ids: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
    for row in answer.rows:
        run = ids.get(row.run, row.run)
        for window, value in zip(answer.windows_of(row.run), row.values, strict=True):
            begin, end = utc_of_ms(window.begin_ms), utc_of_ms(window.end_ms)
            drawn = answer.drawn(row)
            yield (run, row.source, answer.query.type, *row.names, begin, end, value, drawn)
