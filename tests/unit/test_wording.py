"""What the program says stands in tests/wording, for tests that are there, and in no test."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.unit.own_modules import OWN_MODULES, PACKAGE, ROOT
from tests.worded import held_file
from tests.worded.held_file import Entry
from tests.worded.plugin import heard_of
from tests.worded.subjects import SUBJECTS, subject_of

# In these four words in a row that are the program's own, too, are its wording.
IN_A_ROW = 4
# A command is a fact, whatever its words.
COMMAND = re.compile(r"(?:echo|ethtool|grubby|ip|make|modprobe|plimsoll|sysctl|systemctl) ")
# Whose tests do not hold all of their wording in tests/wording yet, or that expect others' words
# which the program has, too: what Open vSwitch counts, what a user noted.
NOT_YET = (
    "tests/unit/analysis/test_opening.py",
    "tests/unit/analysis/test_tables.py",
    "tests/unit/attribution/",
    "tests/unit/benchmark/testbed/",
    "tests/unit/benchmark/trial_run/test_reach.py",
    "tests/unit/cli/machine/test_generators.py",
    "tests/unit/cli/methods/test_simulate.py",
    "tests/unit/cli/records/test_compare.py",
    "tests/unit/cli/records/test_runs.py",
    "tests/unit/cli/records/test_runs_show.py",
    "tests/unit/methods/load_line/test_terminal_summary.py",
    "tests/unit/methods/plugfest/test_plugfest_command.py",
    "tests/unit/cli/test_standard_commands.py",
    "tests/unit/cli/test_tune_audit.py",
    "tests/unit/cli/tune/test_tune.py",
    "tests/unit/dut/ovs/test_ovs.py",
    "tests/unit/dut/ports/test_netdev.py",
    "tests/unit/dut/test_flowtable.py",
    "tests/unit/export/test_object_store.py",
    "tests/unit/host/ledger/test_ledger.py",
    "tests/unit/host/processes/test_schedule_stats.py",
    "tests/unit/methods/test_new_method.py",
    "tests/unit/observe/",
    "tests/unit/record/causes/",
    "tests/unit/record/index/test_removal.py",
    "tests/unit/record/index/test_run_notes.py",
    "tests/unit/remote/otg/test_otg_links.py",
    "tests/unit/methods/matrix/test_matrix_page.py",
    "tests/unit/report/parts/test_causes.py",
    "tests/unit/report/test_hosts.py",
    "tests/unit/report/test_markdown.py",
    "tests/unit/report/test_page.py",
    "tests/unit/methods/plugfest/test_plugfest_page.py",
    "tests/unit/report/test_reading.py",
    "tests/unit/methods/soak/test_soak_page.py",
    "tests/unit/report/test_standard_hosts.py",
    "tests/unit/report/test_tuning.py",
    "tests/unit/search/load_line/test_slow_phases.py",
    "tests/unit/test_extras.py",
    "tests/unit/test_named_programs.py",
    "tests/unit/trial/criteria/test_rx_stability.py",
    "tests/unit/tune/host/capture/test_capture.py",
    "tests/unit/tune/redfish/test_read_bios.py",
    "tests/unit/tune/render/test_readme.py",
    "tests/unit/web/pages/test_trend_page.py",
)


def held() -> dict[str, dict[Entry, str]]:
    """All entries, by file."""
    return {path.name: held_file.read(path) for path in held_file.FOLDER.glob("*.txt")}


@cache
def names_of_tests_that_say(module: str) -> set[str]:
    """The names of a module's tests, and of its fixtures, that have `says`."""
    path = ROOT / module
    if not path.exists():
        return set()
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef)
        and "says" in {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
    }


def test_each_entry_is_of_a_test_that_is_there(request: pytest.FixtureRequest) -> None:
    """With its parameters, where this session has all tests of its module."""
    heard = heard_of(request.config)
    unused = [
        f"{file}: {entry.module}, {entry.test}[{entry.parameters}]"
        for file, entries in held().items()
        for entry in entries
        if entry.test not in names_of_tests_that_say(entry.module)
        or (entry.module in heard.modules and entry.item not in heard.collected)
    ]
    assert not unused, "`make wording` leaves out:\n" + "\n".join(unused)


def test_each_entry_is_in_the_file_of_its_subject() -> None:
    assert [
        (file, entry.module)
        for file, entries in held().items()
        for entry in entries
        if f"{subject_of(entry.module)}.txt" != file
    ] == []


def test_each_subject_is_of_tests_that_are_there() -> None:
    modules = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/**/*.py")]
    assert [
        prefix for prefix in SUBJECTS if not any(each.startswith(prefix) for each in modules)
    ] == []


def test_a_file_is_as_it_would_be_written(tmp_path: Path) -> None:
    """In its order, so that a diff has nothing but what changed."""
    for path in held_file.FOLDER.glob("*.txt"):
        held_file.write(tmp_path / path.name, held_file.read(path))
        assert (tmp_path / path.name).read_text() == path.read_text()


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    """Words in a row, with nothing between them but blanks."""
    for part in re.split(r"[^A-Za-z' ]+", text):
        words = [word.strip("'") for word in part.split()]
        yield from zip(*(words[start:] for start in range(IN_A_ROW)), strict=False)


def _texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


@cache
def said_by_the_program() -> frozenset[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for path in OWN_MODULES:
        for _, text in _texts(ast.parse(path.read_bytes())):
            found.update(_runs(text))
    for path in PACKAGE.rglob("*.j2"):
        found.update(_runs(re.sub(r"\{[{%].*?[%}]\}", "|", path.read_text())))
    return frozenset(found)


def expectations(tree: ast.AST) -> Iterator[ast.AST]:
    """What tests compare with: in an assertion, and by `match` of pytest.raises."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.keyword) and node.arg == "match":
            yield node.value


def wording_in(source: bytes) -> list[tuple[int, str]]:
    """The program's own words that tests of this source expect."""
    found = (each for part in expectations(ast.parse(source)) for each in _texts(part))
    return [
        (line, text)
        for line, text in found
        if not COMMAND.match(text) and not said_by_the_program().isdisjoint(_runs(text))
    ]


def test_no_test_has_what_the_program_says() -> None:
    found = [
        f"{module}:{line}: {text}"
        for path in sorted(ROOT.glob("tests/unit/**/test_*.py"))
        if not (module := path.relative_to(ROOT).as_posix()).startswith(NOT_YET)
        for line, text in wording_in(path.read_bytes())
    ]
    assert not found, "hold it by `says` (CONTRIBUTING.md, Wording):\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('assert "there is no such run" in str(error)', True),
        ('assert (error.where, error.message) == ("x", "there is no such run")', True),
        ('pytest.raises(InputError, match="there is no such run")', True),
        ('raise InputError("there is no such run")', False),
        ('assert error == says("run")', False),
        ('assert commands == ["plimsoll there is no such run"]', False),
        ('assert run("--min-rate 60 --rate 60") == 2', False),
    ],
)
def test_wording_is_found_where_it_is_expected(source: str, expected: bool) -> None:
    assert bool(wording_in(source.encode())) is expected
