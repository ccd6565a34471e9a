"""The fixture `says`, and how the files of tests/wording are read and written: a pytest plugin.

Where xdist has workers run the tests, each sends what its tests said, and one process writes.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from tests.worded import held_file
from tests.worded.held_file import Entry
from tests.worded.placeholders import printable
from tests.worded.rewriting import Heard, rewrite
from tests.worded.says import Says, Statement
from tests.worded.subjects import subject_of

REMEDY = "`make wording` writes it anew, to be reviewed"
_BOOK = pytest.StashKey["Book"]()
_SENT = "wording"


class Book:
    """What the files hold, and, where they are written anew, what was said."""

    def __init__(self, *, rewriting: bool) -> None:
        self.rewriting = rewriting
        self.heard = Heard()
        self._files: dict[str, dict[Entry, str]] = {}

    def entries(self, module: str) -> dict[Entry, str]:
        """All of the file that holds this module's."""
        subject = subject_of(module)
        if subject not in self._files:
            self._files[subject] = held_file.read(held_file.FOLDER / f"{subject}.txt")
        return self._files[subject]


class HeldEntry:
    """One entry, of which a test asks whether it holds a text."""

    def __init__(self, book: Book, entry: Entry, said: dict[Entry, str]) -> None:
        self._book = book
        self._entry = entry
        self._said = said

    def holds(self, text: str) -> str:
        self._said[self._entry] = text
        if self._book.rewriting:
            return ""
        expected = self._book.entries(self._entry.module).get(self._entry)
        if expected is None:
            return f"no such entry; {REMEDY}"
        return "" if expected == text else f"{expected!r} stands there; {REMEDY}"

    def __str__(self) -> str:
        number = f" ({self._entry.number})" if self._entry.number > 1 else ""
        return f"tests/wording/{subject_of(self._entry.module)}.txt, {self._entry.test}{number}"


def heard_of(config: pytest.Config) -> Heard:
    """What this session has collected."""
    return config.stash[_BOOK].heard


def item_of(item: pytest.Item) -> tuple[str, str, str]:
    """Its module's path from the checkout, its name, and its parameters."""
    module, _, name = item.nodeid.partition("::")
    test = name.partition("[")[0]
    parameters = name[len(test) + 1 : -1].strip("-")
    return module, test, " ".join(parameters.replace("\\n", " ").split())


_SAID = pytest.StashKey[dict[Entry, str]]()


@pytest.fixture
def says(request: pytest.FixtureRequest) -> Says:
    """What is said, held by its facts and by tests/wording."""
    book = request.config.stash[_BOOK]
    item = item_of(request.node)
    subject_of(item[0])
    said = request.node.stash[_SAID] = {}
    return Says(lambda number: HeldEntry(book, Entry(*item, number), said))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-wording",
        action="store_true",
        help="write the files of tests/wording anew from what these tests say",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_BOOK] = Book(rewriting=config.getoption("--rewrite-wording"))
    if config.pluginmanager.hasplugin("dsession") or config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(_OfWorkers(), "plimsoll wording of workers")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Of a command line its words; facts are no input, and name no test."""
    if argname == "facts":
        return ""
    if isinstance(val, (list, tuple)) and val and all(isinstance(each, str) for each in val):
        return printable(" ".join(val))
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Before any is deselected."""
    heard = config.stash[_BOOK].heard
    whole = not any("::" in argument for argument in config.args)
    for item in items:
        if "says" in getattr(item, "fixturenames", ()):
            heard.collected.add(item_of(item))
        if whole:
            heard.modules.add(item.nodeid.partition("::")[0])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    yield
    said = item.stash.get(_SAID, None)
    if said is None:
        return
    book = item.config.stash[_BOOK]
    if book.rewriting:
        book.heard.said.update(said)
        book.heard.ran.add(item_of(item))
        return
    own = item_of(item)
    unused = [e for e in book.entries(own[0]) if e.item == own and e not in said]
    assert not unused, f"tests/wording holds what this test no longer asks for; {REMEDY}"


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    match left, right:
        case _, Statement():
            return right.explained(left)
        case Statement(), _:
            return left.explained(right)
        case _:
            return None


class _OfWorkers:
    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        sent = getattr(node, "workeroutput", {}).get(_SENT)
        if sent is not None:
            node.config.stash[_BOOK].heard.add(Heard.received(sent))


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    book = config.stash[_BOOK]
    if not book.rewriting:
        return
    if hasattr(config, "workeroutput"):
        config.workeroutput[_SENT] = book.heard.sent()
    else:
        rewrite(book.heard)
