"""Tables of figures at every width: none of them is ever cut."""

import io

import pytest
from rich.console import Console

from plimsoll.terminal.output import EdgelessConsole
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn

FIGURES = tuple(f"{n},234,567,890" for n in range(1, 10))


def table() -> FigureTable:
    made = FigureTable(
        "Frames",
        (
            TableColumn("stream", "left"),
            *(TableColumn(f"head {n}") for n in range(1, 10)),
            TableColumn("broken", "left", wraps=True),
        ),
    )
    made.add_row("load/0-1", *FIGURES, "latency-p99, loss-ratio, stalled-share")
    return made


@pytest.mark.parametrize("width", [30, 40, 64, 80, 120, 200])
def test_every_figure_is_whole_at_any_width(width: int) -> None:
    screen = io.StringIO()
    Console(width=width, file=screen).print(table())
    printed = screen.getvalue()
    words = printed.split()
    assert "…" not in printed
    assert all(words.count(figure) == 1 for figure in FIGURES)
    assert {"latency-p99,", "loss-ratio,", "stalled-share"} <= set(words)
    assert max(len(line.rstrip()) for line in printed.splitlines()) <= width


def test_each_part_of_a_split_table_names_its_rows() -> None:
    screen = io.StringIO()
    Console(width=40, file=screen).print(table())
    parts = screen.getvalue().split("\n\n")
    assert len(parts) > 1
    assert all("stream" in part and "load/0-1" in part for part in parts)


def test_a_pipe_has_no_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    screen = io.StringIO()
    EdgelessConsole(file=screen).print(table())
    title, headings, row = (line.split() for line in screen.getvalue().splitlines())
    assert (title, headings[0], row[0]) == (["Frames"], "stream", "load/0-1")
    assert row[1:10] == list(FIGURES)


def test_a_terminal_keeps_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert EdgelessConsole(file=io.StringIO(), force_terminal=True).width == 80
