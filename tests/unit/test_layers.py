"""A folder is a layer: imports point downwards, and files are named after a concept."""

import ast
import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.own_modules import OWN_MODULES, PACKAGE, ROOT, SEARCH

# From the top down; a layer may import itself and those after it.
LAYERS = [
    "cli",
    "driving",
    "methods",
    "churn",
    "terminal",
    "remote",
    "web",
    "cluster",
    "report",
    "export",
    "analysis",
    "benchmark",
    "trial",
    "attribution",
    "observe",
    "record",
    "tune",
    "dut",
    "generator",
    "traffic",
    "neighbours",
    "host",
    "text",
    "search",
]
# The rooms of each layer, from the top down, with "." for the files of the folder itself.
ROOMS = {
    "cli": [
        ".",
        "machine",
        "methods",
        "console",
        "serve",
        "records",
        "tune",
    ],
    "methods": [
        ".",
        "cross_check",
        "latency_at_load",
        "probe",
        "rfc9004",
        "rfc2544",
        "soak",
        "plugfest",
        "noisy",
        "matrix",
        "trial",
        "load_line",
    ],
    "terminal": ["commands", "options", "tables", "."],
    "remote": ["otg", "trex", "."],
    "remote/trex": [".", "commands", "session", "streams", "field_engine", "messages"],
    "remote/otg": ["server", "session", "flows", "model", "."],
    "web": ["app", "routes", "live", "experiments", "pages", "security", "."],
    "report": [".", "pages", "charts", "hosts", "tuning", "parts", "data", "figures"],
    "report/pages": [
        ".",
        "comparison",
        "trend",
        "standard",
    ],
    "cluster": ["pods", "."],
    "export": ["opensearch", "cdm", "bundle", "redaction", "."],
    "analysis": [".", "comparison"],
    "analysis/comparison": ["trend", "."],
    "benchmark": [
        ".",
        "trafficgen",
        "check",
        "noise",
        "whole_run",
        "calibration",
        "proposal",
        "trial_run",
        "session",
        "live_traffic",
        "testbed",
        "experiment",
    ],
    "churn": [
        ".",
        "pages",
        "control_plane",
        "kpis",
        "criteria",
        "driver",
        "pod_streams",
        "api",
        "latency",
        "streams",
        "results",
    ],
    "search": [
        ".",
        "binary",
        "checkpoints",
        "load_line",
        "mlrsearch",
        "simulated",
        "strategy",
        "evidence",
        "text",
    ],
    "trial": [".", "judging", "running", "criteria", "outcome"],
    "attribution": [".", "ranking", "explanation", "absences", "events", "incidents"],
    "observe": [
        ".",
        "agent",
        "kernel_trace",
        "cgroups",
        "dpdk",
        "network",
        "openvswitch",
        "procfs",
        "sysfs",
        "reading",
    ],
    "record": [
        ".",
        "live",
        "query",
        "index",
        "methods",
        "metrics",
        "results",
        "causes",
        "run",
        "calibrations",
        "trials",
        "samples",
        "files",
    ],
    "tune": [
        ".",
        "cluster",
        "audit",
        "render",
        "expected",
        "proposal",
        "redfish",
        "fit",
        "host",
        "intent",
        "kubernetes",
    ],
    "tune/render": [".", "bare_metal", "openshift", "files"],
    "tune/host": [".", "capture", "memory", "archives", "cpus", "ports", "boot", "view"],
    "generator": [
        "registry",
        "engine",
        "testpmd",
        "trex",
        "pktgen",
        "moongen",
        "kernel",
        "simulated",
        "scripted",
        ".",
    ],
    "traffic": ["imported", "teaching", "streams", "frames", "."],
    "dut": ["registry", "labs", "ovs", "kernel", "userspace", "guest", ".", "ports"],
    "host": [
        "resctrl",
        "ledger",
        "ports",
        "namespaces",
        "bpf",
        "kubernetes",
        "http",
        "processes",
        "entry",
        ".",
    ],
}
# Entries of a folder, beyond which no one finds anything. Plug-ins are found by themselves.
MAX_ENTRIES = 22
FOLDERS_OF_PLUG_INS = {"tune/audit/checks"}
FOR_EVERYBODY = {"errors", "extras", "plug_ins", "version"}
# The package itself hands out `plimsoll.open`, `trial` and their kin, which are in these layers,
# and is run as a program; the errors for everybody include the library's.
FOR_THE_PACKAGE = {"driving", "analysis", "cli", "search"}
NAMES_WITHOUT_A_CONCEPT = {"common", "helper", "helpers", "misc", "util", "utils"}
# Unit tests of what is no layer: the benchmarks.
TESTS_OF_NO_LAYER = {"engine_bench", "search_bench"}


@functools.cache
def source_of(module: Path) -> str:
    """Read once for all tests, by which `imports_of` parses it once as well."""
    return module.read_text()


@functools.cache
def imports_of(source: str) -> list[ast.Import | ast.ImportFrom]:
    """The import statements of a module, wherever they stand."""
    nodes = ast.walk(ast.parse(source)) if "import" in source else ()
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def imported_modules(source: str, package: list[str]) -> Iterator[str]:
    """Absolute names of all that `source`, a module in `package`, imports anywhere."""
    for node in imports_of(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
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


def package_of(module: Path) -> list[str]:
    """The names of the packages that a module lies in, from `plimsoll` on."""
    return list(module.relative_to(ROOT).parent.parts)


@functools.cache
def is_folder(path: Path) -> bool:
    """Asked of the same few folders for each import."""
    return path.is_dir()


def room_of(parts: list[str], house: list[str]) -> str | None:
    """The room of `house` in which a module of these path parts lies; None outside of it."""
    if parts[: len(house)] != house:
        return None
    return parts[len(house)] if is_folder(PACKAGE.joinpath(*parts[: len(house) + 1])) else "."


def arrows_up(source: str, package: list[str], house: list[str], rooms: list[str]) -> list[str]:
    """What `source`, in a room of `house`, imports from rooms above its own."""
    own = package[1 + len(house)] if len(package) > 1 + len(house) else "."
    below = rooms[rooms.index(own) :]
    names = [name.split(".") for name in imported_modules(source, package)]
    inside = [(name, room_of(name[1:], house)) for name in names if name[0] == "plimsoll"]
    return [".".join(name) for name, room in inside if room is not None and room not in below]


def test_imports_point_downwards() -> None:
    found = {
        module.relative_to(PACKAGE).as_posix(): upward_imports(
            source_of(module), package_of(module)
        )
        for module in OWN_MODULES
    }
    assert {module: upward for module, upward in found.items() if upward} == {}


@pytest.mark.parametrize("house", ROOMS)
def test_rooms_have_an_order(house: str) -> None:
    folder = PACKAGE / house
    found = {
        path: arrows
        for path in sorted(folder.rglob("*.py"))
        if (arrows := arrows_up(source_of(path), package_of(path), house.split("/"), ROOMS[house]))
    }
    assert found == {}


@pytest.mark.parametrize("house", [*LAYERS, *(each for each in ROOMS if "/" in each)])
def test_each_room_has_its_place_in_the_order(house: str) -> None:
    rooms = {path.parent.name for path in (PACKAGE / house).glob("*/*.py")}
    listed = set(ROOMS.get(house, [])) - {"."}
    assert rooms == listed


@pytest.mark.parametrize(
    ("source", "package", "expected"),
    [
        ("from plimsoll.search.registry import Search", "plimsoll.search.binary", ["registry"]),
        ("from plimsoll.search.strategy.ask import Ask", "plimsoll.search.binary", []),
        ("from plimsoll.search.binary.search import B", "plimsoll.search", []),
        ("from plimsoll.search.binary.a import B", "plimsoll.search.strategy", ["binary.a"]),
        ("from ..text.units import Rate", "plimsoll.search.binary", []),
        ("from plimsoll.trial.outcome.finding import F", "plimsoll.search.binary", []),
    ],
)
def test_arrows_up_are_found(source: str, package: str, expected: list[str]) -> None:
    found = arrows_up(source, package.split("."), ["search"], ROOMS["search"])
    assert [name.removeprefix("plimsoll.search.").rsplit(".", 1)[0] for name in found] == expected


def test_no_folder_is_too_full() -> None:
    counts = {
        folder.relative_to(PACKAGE).as_posix(): sum(
            not each.name.startswith("_") for each in folder.iterdir()
        )
        # Of the layers themselves LAYERS is the list.
        for folder in {module.parent for module in OWN_MODULES} - {PACKAGE}
    }
    too_full = {name for name, count in counts.items() if count > MAX_ENTRIES}
    assert too_full == FOLDERS_OF_PLUG_INS


def test_a_module_that_is_run_has_all_it_needs_by_then() -> None:
    for module in OWN_MODULES:
        *before, _ = ast.parse(source_of(module)).body or [ast.Pass()]
        assert not any(runs(node) for node in before), f"{module}: what runs it is not its end"


def runs(node: ast.stmt) -> bool:
    """Whether it is what `python -m` carries out."""
    return isinstance(node, ast.If) and "'__main__'" in ast.unparse(node.test)


def test_the_table_for_newcomers_lists_the_layers_from_the_top_down() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text().split("| layer | holds |")[1].split("\n\n")[0]
    rows = [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]
    assert rows == [layer for layer in LAYERS if (PACKAGE / layer).is_dir()]


def test_what_newcomers_are_pointed_to_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = re.findall(r"`((?:plimsoll|tests|engine|docs|benchmarks)/[\w./-]+)`", text)
    assert len(named) > 30
    assert [each for each in named if not (ROOT / each).exists()] == []


def test_unit_tests_lie_as_what_they_test() -> None:
    folders = {
        path.parent.relative_to(ROOT / "tests/unit").as_posix()
        for path in (ROOT / "tests/unit").rglob("test_*.py")
    }
    assert {each for each in folders if not (PACKAGE / each).is_dir()} == TESTS_OF_NO_LAYER


@pytest.mark.parametrize(
    ("source", "package", "expected"),
    [
        ("from plimsoll.search import binary", "plimsoll.trial", []),
        ("from plimsoll.trial import outcome", "plimsoll.search", ["plimsoll.trial.outcome"]),
        ("from plimsoll import errors, version", "plimsoll.host", []),
        ("from plimsoll import cli", "plimsoll.host", ["plimsoll.cli"]),
        ("from ..report import page", "plimsoll.record", ["plimsoll.report.page"]),
        ("from .criteria import loss", "plimsoll.trial", []),
        ("from ...dut import lab", "plimsoll.trial.criteria", []),
        ("def f():\n    import plimsoll.cli", "plimsoll.host", ["plimsoll.cli"]),
        ("import json, duckdb, plimsoll", "plimsoll.host", []),
        ("from plimsoll.analysis.run import Run", "plimsoll", []),
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
        part for module in OWN_MODULES for part in module.relative_to(PACKAGE).with_suffix("").parts
    }
    assert names.isdisjoint(NAMES_WITHOUT_A_CONCEPT)


def test_the_library_of_searches_imports_pydantic_and_itself_alone() -> None:
    known = {*sys.stdlib_module_names, "pydantic", "pydantic_core"}
    strangers = {
        f"{path.relative_to(SEARCH)}: {name}"
        for path in sorted(SEARCH.rglob("*.py"))
        for name in imported_modules(source_of(path), package_of(path))
        if name.split(".")[0] not in known and not name.startswith("plimsoll.search.")
    }
    assert strangers == set()


def test_the_library_of_searches_names_its_own_modules_by_where_they_lie() -> None:
    """Under an absolute name it would load the other distribution's modules."""
    absolute = {
        path.relative_to(SEARCH).as_posix()
        for path in SEARCH.rglob("*.py")
        for node in imports_of(source_of(path))
        if "plimsoll" in (ast.unparse(node) if not getattr(node, "level", 0) else "")
    }
    assert absolute == set()
