"""Whoever has something of each method has it of all of them."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import app, command_names
from plimsoll.record.files.record_error import write_failed
from plimsoll.record.methods.folders import folder_methods, part_of
from plimsoll.record.methods.method import Method
from plimsoll.record.methods.registry import METHODS
from tests.unit.record.files.test_record_error import FULL, begun

ALL = list(METHODS.values())
RESUMED = [method for method in ALL if not method.one_trial]


def test_each_has_a_page() -> None:
    assert all(callable(part_of(method.name, "page")) for method in ALL)


def test_a_method_that_is_not_there_is_none() -> None:
    assert "tests" not in METHODS
    with pytest.raises(KeyError):
        METHODS["tests"]


@pytest.mark.parametrize("name", folder_methods())
def test_a_folder_has_the_name_of_its_method(name: str) -> None:
    assert METHODS[name].name == name


def test_to_list_methods_imports_none_that_is_a_folder() -> None:
    program = "import sys; from plimsoll.record.methods.registry import METHODS; list(METHODS);"
    program += "print([each for each in sys.modules if each.startswith('plimsoll.methods.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"[]\n"


@pytest.mark.parametrize("method", ALL, ids=lambda each: each.name)
def test_each_is_a_command(method: Method) -> None:
    assert method.command.partition(" ")[0] in command_names()
    assert CliRunner().invoke(app, [*method.command.split(), "--help"]).exit_code == 0


def test_each_has_a_schema_of_its_own() -> None:
    assert len({method.schema for method in ALL}) == len(ALL)


@pytest.mark.parametrize("method", RESUMED, ids=lambda each: each.name)
def test_a_result_says_of_which_method_it_is(method: Method) -> None:
    assert method.result.model_fields["method"].default == method.name


@pytest.mark.parametrize("method", RESUMED, ids=lambda each: each.name)
def test_what_can_go_on_has_the_option(method: Method) -> None:
    result = CliRunner().invoke(app, [*method.command.split(), "--help"], env={"COLUMNS": "200"})
    assert "--resume" in result.output


@pytest.mark.parametrize("method", ALL, ids=lambda each: each.name)
def test_a_write_that_fails_is_answered_by_whether_a_run_can_go_on(
    method: Method, tmp_path: Path
) -> None:
    # The bottom of the record knows the method that leaves one trial by its name alone.
    remedy = write_failed(begun(tmp_path, method.name).histograms, FULL).remedy
    assert remedy.endswith("resume the run") is not method.one_trial
