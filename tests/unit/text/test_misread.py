"""Numbers of YAML 1.1: no document takes one for what was written."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from plimsoll.errors import InputError
from plimsoll.text.document import parse_document, parse_value, read_document


class Traffic(BaseModel):
    port: int = 1
    rate: float = 1.0
    label: str = ""
    ports: dict[str, int] = {}
    sizes: tuple[float, ...] = ()
    on: bool = False


# What is written, what YAML 1.1 makes of it by its specification, and what to write instead.
MISREAD = [
    ("1:20", "the number 80", "put it in quotes if it is text; a number has no colon"),
    ("-1:20", "the number -80", "put it in quotes if it is text; a number has no colon"),
    (
        "52:54:00:12:34:56",
        "the number 41135085296",
        "put it in quotes if it is text; a number has no colon",
    ),
    ("17:00.0", "the number 1020.0", "put it in quotes if it is text; a number has no colon"),
    (
        "0200",
        "the number 128",
        "write 200, or 128 if octal is meant, or put it in quotes if it is text",
    ),
    ("0x5DC", "the number 1500", "write 1500, or put it in quotes if it is text"),
    ("0b101", "the number 5", "write 5, or put it in quotes if it is text"),
    ("1_500", "the number 1500", "write 1500, or put it in quotes if it is text"),
    ("1_0.5", "the number 10.5", "write 10.5, or put it in quotes if it is text"),
    ("2026-11-28", "a date", "put it in quotes"),
]


@pytest.mark.parametrize(("written", "taken_for", "remedy"), MISREAD)
def test_a_document_with_it_is_refused(written: str, taken_for: str, remedy: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_document(Path("a.yaml"), f"name: x\nstreams:\n- {{port: {written}}}\n")
    said = f"streams[0].port: YAML takes {written} for {taken_for}"
    assert str(caught.value) == f"a.yaml:3: {said} ({remedy})"


@pytest.mark.parametrize(("written", "taken_for", "remedy"), MISREAD)
def test_an_option_with_it_is_refused(written: str, taken_for: str, remedy: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_value(written, "--set port")
    assert str(caught.value) == f"--set port: YAML takes {written} for {taken_for} ({remedy})"
    with pytest.raises(InputError, match=r"--set port: \[1\]: YAML takes"):
        parse_value(f"[1, {written}]", "--set port")


def test_a_field_whose_name_is_one_is_refused() -> None:
    with pytest.raises(InputError, match=r"a\.yaml:1: ports\.010: YAML takes 010 for"):
        parse_document(Path("a.yaml"), "ports: {010: 1}\n")


@pytest.mark.parametrize(
    "written", ["80", "-5", "+7", "1.5", "1e5", "'1:20'", '"0200"', "5e-1", "a:b", ".inf", "00:zz"]
)
def test_what_reads_as_it_is_written_is_taken(written: str) -> None:
    parse_document(Path("a.yaml"), f"port: {written}\n")
    parse_value(written, "--set port")


def _refused(folder: Path, text: str) -> str:
    path = folder / "a.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_document(path).validate(Traffic)
    return str(caught.value).removeprefix(f"{folder}/")


@pytest.mark.parametrize(
    ("text", "field", "found"),
    [
        ("port: true", "port", "true"),
        ("rate: yes", "rate", "yes"),
        ("rate: off", "rate", "off"),
        ("ports: {a: true}", "ports.a", "true"),
        ("sizes: [64, on]", "sizes[1]", "on"),
    ],
)
def test_true_and_false_are_not_numbers(tmp_path: Path, text: str, field: str, found: str) -> None:
    said = _refused(tmp_path, f"label: x\n{text}\n")
    assert said == f"a.yaml:2: {field}: found {found} (write a number)"


def test_a_word_taken_for_false_is_told_as_it_was_written(tmp_path: Path) -> None:
    assert _refused(tmp_path, "label: no\n").startswith("a.yaml:1: label: found no (")


def test_words_for_true_and_false_are_taken_where_they_are_meant(tmp_path: Path) -> None:
    said = _refused(tmp_path, "on: yes\n")
    assert said == "a.yaml:1: on: YAML takes on for true (put it in quotes)"
    path = tmp_path / "a.yaml"
    path.write_text("'on': yes\n")
    assert read_document(path).validate(Traffic).on


def test_a_tag_makes_no_other_number_of_it() -> None:
    with pytest.raises(InputError, match="takes 0100 for the number 64"):
        parse_document(Path("a.yaml"), "port: !!int '0100'\n")
