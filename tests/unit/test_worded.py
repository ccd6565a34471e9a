"""How tests hold what is said: facts in the test, words in a file that is written anew at once."""

import traceback
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from plimsoll.errors import InputError
from plimsoll.version import VERSION
from tests.worded import held_file
from tests.worded.held_file import Entry
from tests.worded.placeholders import stable
from tests.worded.plugin import Book, HeldEntry
from tests.worded.rewriting import Heard, rewrite
from tests.worded.says import Says, passage, rendered

THERE = "tests/unit/text/test_units.py"
GONE = "tests/unit/text/test_gone.py"
ENTRIES = {
    Entry(THERE, "test_a", "[x] y"): "'5' lacks a colour\nremedy: write it in red",
    Entry(THERE, "test_a", "[x] y", 2): "  indented\n\n[brackets]\n# and a sign",
    Entry(THERE, "test_b"): "one",
    Entry(THERE, "test_b", "", 2): "two",
    Entry(GONE, "test_c"): "three",
}


@dataclass
class OneText:
    """An entry that holds one text."""

    text: str
    heard: list[str] = field(default_factory=list)

    def holds(self, text: str) -> str:
        self.heard.append(text)
        return "" if text == self.text else "another text"

    def __str__(self) -> str:
        return "entry"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(held_file, "FOLDER", tmp_path)
    return tmp_path


def holding(text: str) -> Says:
    return Says(lambda _number: OneText(text))


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    held_file.write(path, ENTRIES)
    assert held_file.read(path) == ENTRIES
    held_file.write(path, {})
    assert not path.exists()


def test_a_file_is_plain_text_in_the_order_of_names(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    held_file.write(path, dict(reversed(ENTRIES.items())))
    assert path.read_text() == (
        f"# {GONE}\n\n## test_c\n\n    three\n\n"
        f"# {THERE}\n\n## test_a\n\n"
        "[[x] y]\n    '5' lacks a colour\n    remedy: write it in red\n\n"
        "[[x] y] (2)\n      indented\n\n    [brackets]\n    # and a sign\n\n"
        "## test_b\n\n    one\n\n[] (2)\n    two\n"
    )


def test_both_the_facts_and_the_words_are_held() -> None:
    says = holding("a.yaml:\nCPU 12 is named twice\nremedy: name it once")
    error = InputError("CPU 12 is named twice", where="a.yaml", remedy="name it once")
    assert error == says("a.yaml", "12")
    assert error != says("1"), "part of a number"
    assert error != says("named twice or"), "a fact that is not in it"
    assert InputError("CPU 12 is", where="a.yaml") != says("12")


def test_it_stands_in_lists_and_tuples_too() -> None:
    says = holding("b: 2")
    assert ("warn", [says("2")]) == ("warn", ["b: 2"])
    assert says("2") in ["a: 1", "b: 2"]
    assert says("2") not in ["a: 1", "c: 2"]


def test_errors_of_pydantic_are_their_places_messages_and_remedies() -> None:
    class Two(BaseModel):
        number: int

    with pytest.raises(ValidationError) as caught:
        Two.model_validate({"number": "x"})
    (line,) = rendered(caught.value).splitlines()
    assert line.startswith("number: ")


def test_what_differs_from_run_to_run_has_a_name(tmp_path: Path) -> None:
    assert stable(f"{tmp_path}/a.yaml: no") == "<tmp>/a.yaml: no"
    assert stable(f"plimsoll {VERSION}, not 1{VERSION}") == f"plimsoll <version>, not 1{VERSION}"
    assert stable("a  \nb") == "a\nb"
    # Drawn at random, one in 360 has no digit.
    assert stable("lab-dbfafa, run-01c2d3") == "lab-<id>, run-<id>"


def test_a_traceback_has_no_frames_in_it_which_move_with_every_edit() -> None:
    try:
        Path("/nowhere").read_text()
    except OSError:
        text = stable(traceback.format_exc())
    assert text.splitlines()[1:-1] == ["  <frames>"]
    tail = (
        '  File "a", line 1, in b\n    code()\n    ^^^^\n  File "c", line 2, in d\nKeyError: 1\n  x'
    )
    assert stable(tail) == "  <frames>\nKeyError: 1\n  x"


def test_of_a_long_output_lines_are_taken_by_their_facts() -> None:
    assert passage("one 1\ntwo 2\ntwo 12", "2") == ["two 2"]
    page = "<p>Of 3 frames <b>2</b> came.</p><script>2</script><p>Of 4 none.</p>"
    assert passage(page, "3") == ["Of 3 frames 2 came."]


def test_an_entry_that_is_missing_or_another_is_named_with_the_remedy(folder: Path) -> None:
    entry = Entry(THERE, "test_b")
    book = Book(rewriting=False)
    assert "make wording" in HeldEntry(book, entry, {}).holds("one")
    held_file.write(folder / "documents-and-units.txt", {entry: "one"})
    book = Book(rewriting=False)
    assert HeldEntry(book, entry, {}).holds("one") == ""
    assert "make wording" in HeldEntry(book, entry, {}).holds("two")
    assert "documents-and-units.txt" in str(HeldEntry(book, entry, {}))


def test_what_was_said_is_written_and_what_none_says_is_left_out(folder: Path) -> None:
    held_file.write(folder / "documents-and-units.txt", ENTRIES)
    item = (THERE, "test_b", "")
    heard = Heard(said={Entry(*item): "1"}, ran={item}, collected={item})
    rewrite(heard)
    kept = {entry: text for entry, text in ENTRIES.items() if entry.test == "test_a"}
    written = held_file.read(folder / "documents-and-units.txt")
    assert written == kept | {Entry(*item): "1"}, "test_a did not run, and its module has others"
    rewrite(Heard(modules={THERE}, collected={item}))
    assert held_file.read(folder / "documents-and-units.txt") == {Entry(*item): "1"}


def test_workers_send_what_they_heard() -> None:
    item = (THERE, "test_b", "")
    heard = Heard({Entry(*item): "1\n2"}, {item}, {item}, {THERE})
    both = Heard()
    both.add(Heard.received(heard.sent()))
    assert both == heard
