"""Numbers of YAML 1.1: no document takes one for what was written."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from plimsoll.errors import InputError
from plimsoll.text.document import parse_document, parse_value, read_document
from tests.worded.says import Says


class Traffic(BaseModel):
    port: int = 1
    rate: float = 1.0
    label: str = ""
    ports: dict[str, int] = {}
    sizes: tuple[float, ...] = ()
    on: bool = False


# What is written, what YAML 1.1 makes of it by its specification, and what to write instead.
MISREAD = [
    ("1:20", ("80",)),
    pytest.param("-1:20", ("-80",), id="below zero"),
    (
        "52:54:00:12:34:56",
        ("41135085296",),
    ),
    ("17:00.0", ("1020.0",)),
    (
        "0200",
        ("128", "200"),
    ),
    ("0x5DC", ("1500",)),
    ("0b101", ("5",)),
    ("1_500", ("1500",)),
    ("1_0.5", ("10.5",)),
    ("2026-11-28", ()),
]


@pytest.mark.parametrize(("written", "facts"), MISREAD)
def test_a_document_with_it_is_refused(written: str, facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_document(Path("a.yaml"), f"name: x\nstreams:\n- {{port: {written}}}\n")
    assert caught.value.where == "a.yaml:3"
    assert caught.value == says("streams[0].port:", written, *facts)


@pytest.mark.parametrize(("written", "facts"), MISREAD)
def test_an_option_with_it_is_refused(written: str, facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_value(written, "--set port")
    assert caught.value.where == "--set port"
    assert caught.value == says(written, *facts)
    with pytest.raises(InputError) as caught:
        parse_value(f"[1, {written}]", "--set port")
    assert caught.value == says("--set port", "[1]:", written, *facts)


def test_a_field_whose_name_is_one_is_refused(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_document(Path("a.yaml"), "ports: {010: 1}\n")
    assert caught.value == says("a.yaml:1", "ports.010")


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
def test_true_and_false_are_not_numbers(
    tmp_path: Path, text: str, field: str, found: str, says: Says
) -> None:
    said = _refused(tmp_path, f"label: x\n{text}\n")
    assert said == says("a.yaml:2", str(field), str(found))


def test_a_word_taken_for_false_is_told_as_it_was_written(tmp_path: Path, says: Says) -> None:
    assert _refused(tmp_path, "label: no\n") == says("a.yaml:1", "label")


def test_words_for_true_and_false_are_taken_where_they_are_meant(
    tmp_path: Path, says: Says
) -> None:
    said = _refused(tmp_path, "on: yes\n")
    assert said == says("a.yaml:1")
    path = tmp_path / "a.yaml"
    path.write_text("'on': yes\n")
    assert read_document(path).validate(Traffic).on


def test_a_tag_makes_no_other_number_of_it(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_document(Path("a.yaml"), "port: !!int '0100'\n")
    assert caught.value == says("0100", "64")
