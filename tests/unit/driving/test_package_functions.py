"""`plimsoll.trial` and its kin are functions, and folders of the package have their names."""

import subprocess
import sys

import pytest

import plimsoll
from plimsoll.errors import InputError
from tests.worded.says import Says

BOTH = """
import plimsoll
assert callable(plimsoll.{name}), "before its folder is imported"
from plimsoll.{name} import {inside}
import plimsoll.{name}
assert plimsoll.{name}.{inside} is {inside}, "it is the folder"
assert plimsoll.{name} is __import__("sys").modules["plimsoll.{name}"]
try:
    plimsoll.{name}("missing.yaml" {more})
except plimsoll.errors.InputError as error:
    assert "missing.yaml" in str(error)
"""
FOLDERS = [
    pytest.param("trial", "judging", ', "1kpps"', marks=pytest.mark.slow),
    pytest.param("search", "strategy", "", marks=pytest.mark.slow),
    ("traffic", "streams", ""),
]


@pytest.mark.parametrize(("name", "inside", "more"), FOLDERS)
def test_a_folder_of_the_same_name_can_be_called(name: str, inside: str, more: str) -> None:
    code = BOTH.format(name=name, inside=inside, more=more)
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


def test_an_experiment_s_mistakes_are_raised_with_their_place(says: Says) -> None:
    with pytest.raises(InputError, match=r"missing\.yaml"):
        plimsoll.search("missing.yaml")
    with pytest.raises(InputError) as caught, plimsoll.lab("no-such-lab"):
        pass
    assert caught.value == says("no-such-lab")
    with (
        pytest.raises(InputError) as caught,
        plimsoll.lab("testpmd-memif", fields=["lab.cpus=[1]"]),
    ):
        pass
    assert caught.value == says("lab.cpus")
