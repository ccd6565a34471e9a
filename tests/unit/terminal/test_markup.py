"""Brackets of a user, a path or a tag are brackets: nothing that is shown is ever markup."""

import ast
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from plimsoll.errors import InputError
from plimsoll.terminal.output import EdgelessConsole, Errors, PlainConsole, labelled
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn
from tests.unit.cli.runs_command import Plimsoll
from tests.unit.own_modules import OWN_MODULES, PACKAGE

# A closing tag without its opening one, a style, a link, an emoji, and an escape.
MARKUP = r"r[/x] [bold]lab[/] [link=u]l[/link] :smile: \[red]"


def shown(what: object) -> str:
    file = io.StringIO()
    EdgelessConsole(file=file).print(what, soft_wrap=True)
    return file.getvalue()


def a_table() -> Table:
    table = Table(MARKUP, title=MARKUP, caption=MARKUP)
    table.add_row(MARKUP)
    return table


def a_figure_table() -> FigureTable:
    table = FigureTable(MARKUP, (TableColumn(MARKUP, "left"),))
    table.add_row(MARKUP)
    return table


@pytest.mark.parametrize(
    ("made", "times"),
    [
        (lambda: MARKUP, 1),
        (lambda: Text(MARKUP, "bold"), 1),
        (lambda: labelled("note:", MARKUP), 1),
        (lambda: Panel(MARKUP, title=Text(MARKUP)), 2),
        (a_table, 4),
        (a_figure_table, 3),
    ],
)
def test_text_is_shown_to_the_letter(made: Callable[[], object], times: int) -> None:
    assert shown(made()).count(MARKUP) == times


def test_errors_are_told_to_the_letter() -> None:
    file = io.StringIO()
    error = InputError(f"no {MARKUP}", where=f"at {MARKUP}", remedy=f"do {MARKUP}")
    Errors(PlainConsole(file=file)).print_error(error)
    assert file.getvalue() == (f"error: at {MARKUP}: no {MARKUP}\nremedy: do {MARKUP}\n")


def test_a_run_below_a_folder_of_markup(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLIMSOLL_STATE", str(tmp_path / "state"))
    call = Plimsoll(monkeypatch, capsys)
    runs = "r[/x]"
    assert call("simulate", "fixed-capacity", "--runs", runs) == 0
    assert f"report: {runs}/" in call.err
    (run,) = (tmp_path / runs).iterdir()
    assert call("runs", "tag", run.name, "lab=[bold]a[/]", "--runs", runs) == 0
    assert call("runs", "note", run.name, "[/note]", "--runs", runs) == 0
    for words in (
        ("runs", "list", "--runs", runs),
        ("runs", "show", run.name, "--runs", runs),
    ):
        assert call(*words) == 0, (words, call.err)
        assert "[bold]a[/]" in call.out
    assert "[/note]" in call.out
    assert call("runs", "[lab]") == 2
    assert "'[lab]'" in call.err


def calls(module: Path) -> Iterator[ast.Call]:
    source = module.read_text()
    return (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)


def takes_markup(call: ast.Call) -> bool:
    """Whether Rich would take a text that it is given here for markup, whatever the console."""
    named = {each.arg: each.value for each in call.keywords}
    match name_of(call):
        case "from_markup":
            return True
        case "TextColumn":
            markup = named.get("markup")
            return not (isinstance(markup, ast.Constant) and markup.value is False)
        case "Panel" | "Rule" | "status" | "Status" | "Spinner":
            texts = [*call.args[:1], *(named[n] for n in ("title", "subtitle") if n in named)]
            return any(
                isinstance(each, ast.JoinedStr | ast.BinOp)
                or (isinstance(each, ast.Constant) and "[" in str(each.value))
                for each in texts
            )
    return "markup" in named


RICH = [
    module
    for module in OWN_MODULES
    if "from rich" in (source := module.read_text()) or "import rich" in source
]


def test_nothing_takes_a_text_for_markup() -> None:
    found = {
        f"{module.relative_to(PACKAGE)}:{call.lineno}"
        for module in RICH
        for call in calls(module)
        if takes_markup(call)
    }
    # The one place that says it of all consoles.
    assert {place.partition(":")[0] for place in found} == {"terminal/output.py"}


def test_consoles_are_made_in_one_place() -> None:
    makers = {
        module.relative_to(PACKAGE).as_posix()
        for module in RICH
        for call in calls(module)
        if name_of(call) == "Console"
    }
    assert makers == set()


def test_no_other_way_to_the_terminal_is_taken() -> None:
    imported = {
        f"{node.module}.{alias.name}"
        for module in RICH
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rich")
        for alias in node.names
    }
    assert imported.isdisjoint({"rich.print", "rich.get_console", "rich.inspect"})
    assert not {each for each in imported if each.startswith(("rich.markup", "rich.prompt"))}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("Text.from_markup(path)", True),
        ('Panel(table, title=f"of {name}")', True),
        ('Panel(table, title="Soak")', False),
        ("Panel(table, title=Text(name))", False),
        ('TextColumn("{task.description}")', True),
        ('TextColumn("{task.description}", markup=False)', False),
        ('stderr.status(f"[dim]{step}[/]")', True),
        ('stderr.print("[bold]x[/]", markup=True)', True),
        ('stderr.print("x", soft_wrap=True)', False),
    ],
)
def test_what_takes_markup_is_found(source: str, found: bool) -> None:
    (call, *_) = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call))
    assert takes_markup(call) is found
