"""A folder is a layer: imports point downwards, and files are named after a concept."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "plimsoll"
# From the top down; a layer may import itself and those after it.
LAYERS = [
    "cli",
    "web",
    "cluster",
    "report",
    "benchmark",
    "search",
    "trial",
    "attribution",
    "observe",
    "record",
    "tune",
    "dut",
    "generator",
    "traffic",
    "host",
]
FOR_EVERYBODY = {"errors", "version"}
# The package itself hands out `plimsoll.open`, which reads the record.
FOR_THE_PACKAGE = {"record"}
NAMES_WITHOUT_A_CONCEPT = {"common", "helper", "helpers", "misc", "util", "utils"}
MODULES = sorted(PACKAGE.rglob("*.py"))


def imported_modules(source: str, package: list[str]) -> Iterator[str]:
    """Absolute names of all that `source`, a module in `package`, imports anywhere."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) - node.level + 1] if node.level else []
            base = [*parents, *(node.module.split(".") if node.module else [])]
            yield from (".".join([*base, alias.name]) for alias in node.names)


def upward_imports(source: str, package: list[str]) -> list[str]:
    """What `source` imports from inside plimsoll that does not lie below it."""
    layer = package[1] if len(package) > 1 else None
    below = LAYERS[LAYERS.index(layer) :] if layer else FOR_THE_PACKAGE
    allowed = set(below) | FOR_EVERYBODY
    names = [name.split(".") for name in imported_modules(source, package)]
    return [".".join(n) for n in names if n[0] == "plimsoll" and not allowed.issuperset(n[1:2])]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(PACKAGE)))
def test_imports_point_downwards(module: Path) -> None:
    package = list(module.relative_to(ROOT).parent.parts)
    assert upward_imports(module.read_text(), package) == []


@pytest.mark.parametrize(
    ("source", "package", "expected"),
    [
        ("import plimsoll.trial.verdict", "plimsoll.search", []),
        ("from plimsoll.search import binary", "plimsoll.trial", ["plimsoll.search.binary"]),
        ("from plimsoll import errors, version", "plimsoll.host", []),
        ("from plimsoll import cli", "plimsoll.host", ["plimsoll.cli"]),
        ("from ..report import page", "plimsoll.record", ["plimsoll.report.page"]),
        ("from .criteria import loss", "plimsoll.trial", []),
        ("from ...dut import lab", "plimsoll.trial.criteria", []),
        ("def f():\n    import plimsoll.cli", "plimsoll.host", ["plimsoll.cli"]),
        ("import json, duckdb, plimsoll", "plimsoll.host", []),
        ("from plimsoll.record.opened.run import Run", "plimsoll", []),
        ("from plimsoll.report import page", "plimsoll", ["plimsoll.report.page"]),
    ],
)
def test_upward_imports_are_found(source: str, package: str, expected: list[str]) -> None:
    assert upward_imports(source, package.split(".")) == expected


def test_each_folder_is_a_layer() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    assert folders <= set(LAYERS)


def test_no_module_is_named_after_no_concept() -> None:
    names = {
        part for module in MODULES for part in module.relative_to(PACKAGE).with_suffix("").parts
    }
    assert names.isdisjoint(NAMES_WITHOUT_A_CONCEPT)
