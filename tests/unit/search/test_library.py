"""The searches as a library: what it loads, and that what its README shows works as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.search import TrialEvidence, __all__
from plimsoll.version import VERSION
from tests.unit.own_modules import ROOT

LIBRARY = ROOT / "packages/plimsoll-search"
SOURCE = LIBRARY / "src"
BLOCKS = re.findall(r"```python\n(.*?)```", (LIBRARY / "README.md").read_text(), re.DOTALL)
STRATEGIES = ["load-line", "mlrsearch", "binary", "checkpoints"]


def python(program: str) -> str:
    """What a program prints that finds the library, and of ours nothing else."""
    return subprocess.run(
        [sys.executable, "-I", "-c", f"import sys\nsys.path.insert(0, {str(SOURCE)!r})\n{program}"],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_the_readme_drives_a_generator_with_every_strategy_in_twenty_lines() -> None:
    program = BLOCKS[0]
    assert len(program.splitlines()) <= 20
    found = [line.split()[:2] for line in python(program).splitlines()]
    assert [strategy for strategy, _ in found] == STRATEGIES
    # A DUT of 1 Mpps, and checkpoints up to 80 % of twice that.
    assert all(6e5 <= float(load) <= 1e6 for _, load in found)


def test_the_readme_makes_evidence_of_counts() -> None:
    counted = SimpleNamespace(
        begin_s=0.0, end_s=1.0, sent=(500, 500), lost=(0, 5), p50_ns=9_000, max_ns=30_000
    )
    generator = SimpleNamespace(
        run=lambda load_pps, duration_s, burst_frames: [counted],
        latencies_ns=(8_000, 9_000, 20_000, 30_000),
    )
    names: dict[str, Any] = {"generator": generator}
    exec(BLOCKS[1].replace("plimsoll_search", "plimsoll.search"), names)  # noqa: S102 - ours
    evidence = names["trial"](SimpleNamespace(load_pps=500, duration_s=1, burst_frames=None))
    assert isinstance(evidence, TrialEvidence)
    assert (evidence.lost, evidence.loss_ratio, evidence.forwarded_pps) == (5, 0.01, 495)


def test_the_readme_says_what_the_generator_cannot_offer() -> None:
    heard: list[Any] = []
    names = {"search": SimpleNamespace(tell=heard.append), "evidence": None}
    exec(BLOCKS[2].replace("plimsoll_search", "plimsoll.search"), names)  # noqa: S102 - ours
    assert (heard[0].verdict(), heard[0].offered_at_most_pps) == ("invalid", 1.2e6)


def test_strategies_load_their_own_modules_alone() -> None:
    """Nothing of Plimsoll's, and of others pydantic and what that needs."""
    program = (
        "before = set(sys.modules)\n"
        "import plimsoll_search.registry\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = [name.split(".") for name in python(program).split()]
    assert len([each for each in loaded if each[0] == "plimsoll_search"]) <= 100
    others = (each[0] for each in loaded if not each[0].startswith("_sysconfigdata"))
    strangers = set(others) - set(sys.stdlib_module_names)
    assert strangers <= {
        "plimsoll_search",
        "pydantic",
        "pydantic_core",
        "annotated_types",
        "typing_extensions",
        "typing_inspection",
    }


def test_errors_load_no_strategy() -> None:
    """Every command imports them first."""
    program = "import plimsoll_search.text.errors\nprint('pydantic' in sys.modules)"
    assert python(program).strip() == "False"


@pytest.mark.parametrize("name", __all__)
def test_each_name_of_the_package_is_there(name: str) -> None:
    package = sys.modules["plimsoll.search"]
    assert getattr(package, name).__name__ == name


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = sys.modules["plimsoll.search"].nothing


def test_its_version_is_plimsolls() -> None:
    project = tomllib.loads((LIBRARY / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION
    assert [re.split(r"\W", each)[0] for each in project["dependencies"]] == ["pydantic"]
