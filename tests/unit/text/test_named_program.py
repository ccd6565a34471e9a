"""Fields that name programs, held against the list of what may be run."""

import os
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, ValidationError

from plimsoll.text.named_program import (
    ALLOWED_KEY,
    ALLOWED_VARIABLE,
    AllowedPrograms,
    Program,
    ProgramPath,
    RunCommand,
)
from tests.worded.says import Says


class Runner(BaseModel):
    program: Annotated[str, Program("usual")] = "usual"
    tree: Annotated[Path, ProgramPath()] | None = None
    command: Annotated[tuple[str, ...], RunCommand()] = ()


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def read(allowed: AllowedPrograms | None, **fields: object) -> Runner:
    return Runner.model_validate(fields, context=allowed and {ALLOWED_KEY: allowed})


def refused(allowed: AllowedPrograms, **fields: object) -> str:
    with pytest.raises(ValidationError) as raised:
        read(allowed, **fields)
    return str(raised.value)


def test_without_a_list_in_force_everything_is_taken(program: Path) -> None:
    assert read(None, program=str(program), tree="/there").program == str(program)


@pytest.mark.parametrize("field", ["program", "tree"])
def test_an_empty_list_allows_nothing(program: Path, field: str, says: Says) -> None:
    text = refused(AllowedPrograms(), **{field: str(program)})
    assert text == says(str(program))


def test_an_empty_list_allows_no_command(program: Path, says: Says) -> None:
    assert refused(AllowedPrograms(), command=[str(program), "-v"]) == says(
        "/tmp/pytest-of-root/pyt...ws_no_c0/program", "-v", "1", "[type=mistake"
    )
    assert refused(AllowedPrograms(), command=["sh", "-c", "id"]) == says("sh", "-c", "id", "1")


def test_what_is_taken_without_a_word_of_the_document_needs_no_list() -> None:
    assert read(AllowedPrograms()) == Runner()
    assert read(AllowedPrograms(), program="usual") == Runner()


def test_what_is_listed_is_taken(program: Path) -> None:
    allowed = AllowedPrograms((str(program),))
    found = read(allowed, program=str(program), tree=program, command=[str(program), "-v", "/x"])
    assert found == Runner(program=str(program), tree=program, command=(str(program), "-v", "/x"))


def test_another_path_to_what_is_listed_is_replaced_by_the_listed_one(
    program: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(program)
    (tmp_path / "folder").mkdir()
    allowed = AllowedPrograms((str(program),))
    for written in (tmp_path / "link", tmp_path / "folder" / ".." / "program"):
        assert read(allowed, program=str(written)).program == str(program)
        assert read(allowed, tree=written).tree == program
        assert read(allowed, command=[str(written), "x"]).command == (str(program), "x")


def test_a_listed_link_stands_for_what_it_leads_to(program: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(program)
    assert read(AllowedPrograms((str(link),)), program=str(program)).program == str(link)


def test_a_relative_path_is_that_from_here(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    allowed = AllowedPrograms((str(program),))
    assert read(allowed, program="./program").program == str(program)
    assert read(allowed, tree="program").tree == program


def test_a_name_is_looked_up_on_the_path(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read(AllowedPrograms((str(program),)), program="program").program == str(program)
    # What lies here by that name is not what would be run.
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "other").write_text("")
    monkeypatch.chdir(tmp_path / "here")
    assert refused(AllowedPrograms((str(program),)), program="other") == says("other", "1")


def test_a_listed_folder_does_not_list_what_lies_in_it(
    program: Path, tmp_path: Path, says: Says
) -> None:
    assert refused(AllowedPrograms((str(tmp_path),)), program=str(program)) == says(
        "/tmp/pytest-of-root/pyte...lder_does_not_0/program", "1"
    )


@pytest.mark.parametrize("path", ["/a\0b", "", "."])
def test_what_is_no_path_is_on_no_list(program: Path, path: str, says: Says) -> None:
    allowed = AllowedPrograms((str(program),))
    assert refused(allowed, program=path) == says("1")
    assert refused(allowed, tree=path) == says("1")


def test_what_the_message_shows_drives_no_terminal() -> None:
    assert "/tmp/\\x1b[2J" in refused(AllowedPrograms(), program="/tmp/\x1b[2J")


def test_a_process_has_the_list_of_its_environment(
    program: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    for name, value in AllowedPrograms((str(program),)).environment.items():
        monkeypatch.setenv(name, value)
    assert Runner.model_validate({"program": str(program)}).program == str(program)
    with pytest.raises(ValidationError) as caught:
        Runner.model_validate({"program": os.devnull})
    assert caught.value == says()


@pytest.mark.parametrize("text", ["", "{", "7", "null", '"/bin/sh"', '{"/bin/sh": 1}', "[7]"])
def test_a_damaged_list_allows_nothing(
    text: str, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setenv(ALLOWED_VARIABLE, text)
    with pytest.raises(ValidationError) as caught:
        Runner.model_validate({"program": "/bin/sh"})
    assert caught.value == says("/bin/sh")
