"""Each kind of error has an exit code of its own, and only a DUT's failure has 1."""

import ast
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.dut.lab import LabDied, coming_up
from plimsoll.errors import DUT_FAILED, INTERNAL_FAULT, MachineError, PlimsollError
from tests.unit.own_modules import OWN_MODULES
from tests.worded.says import Says


def kinds() -> Iterator[ast.ClassDef]:
    """The errors made from the one of all layers."""
    for module in OWN_MODULES:
        if "(PlimsollError)" in (source := module.read_text()):
            for node in ast.walk(ast.parse(source)):
                bases = node.bases if isinstance(node, ast.ClassDef) else ()
                if "PlimsollError" in map(ast.unparse, bases):
                    assert isinstance(node, ast.ClassDef)
                    yield node


def code_of(kind: ast.ClassDef) -> str | None:
    found = (
        ast.unparse(node.value)
        for node in kind.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "exit_code"
    )
    return next(found, None)


def test_each_kind_of_error_has_its_exit_code() -> None:
    codes = {kind.name: code_of(kind) for kind in kinds()}
    assert len(codes) > 8
    assert [name for name, code in codes.items() if code is None] == []
    assert [name for name, code in codes.items() if code in {"1", "DUT_FAILED"}] == ["LabDied"]


def test_one_that_has_none_is_a_fault_of_ours() -> None:
    assert PlimsollError("x").exit_code == INTERNAL_FAULT != DUT_FAILED


def died() -> LabDied:
    child: Any = SimpleNamespace(name="dpdk-testpmd", pid=7, log=Path("/none"))
    return LabDied(child, 9)


def test_a_dut_that_ends_has_failed(says: Says) -> None:
    ended = died()
    assert ended.exit_code == DUT_FAILED
    # What says so does not fail itself where the log is gone.
    assert ended == says()


def test_one_that_does_not_come_up_has_failed_no_trial() -> None:
    with pytest.raises(LabDied) as ended, coming_up():
        raise died()
    assert ended.value.exit_code == MachineError.exit_code
