"""What people can name is described in the document in which CONTRIBUTING says that it is."""

from pathlib import Path

import pytest

from plimsoll.dut.registry.labs import lab_kinds
from plimsoll.generator.registry.generators import GENERATORS
from plimsoll.neighbours.registry import neighbours
from plimsoll.record.methods.registry import METHODS
from plimsoll.search.registry import strategies
from plimsoll.trial.criteria.registry import CRITERIA

ROOT = Path(__file__).resolve().parents[2]


def first_cells(document: str) -> str:
    """What stands first in the rows of the document's tables."""
    lines = (ROOT / document).read_text().splitlines()
    return "\n".join(line.split("|")[1] for line in lines if line.startswith("| "))


@pytest.mark.parametrize(
    ("kinds", "document"),
    [
        (list(CRITERIA), "docs/experiment.md"),
        (list(lab_kinds()), "docs/experiment.md"),
        (list(GENERATORS), "docs/generators.md"),
        (list(strategies()), "docs/searches.md"),
    ],
    ids=("criteria", "DUTs", "generators", "searches"),
)
def test_each_kind_has_a_row(kinds: list[str], document: str) -> None:
    assert len(kinds) > 3
    cells = first_cells(document)
    assert [kind for kind in kinds if f"`{kind}`" not in cells] == []


def test_each_kind_of_neighbour_is_described() -> None:
    text = (ROOT / "docs/neighbours.md").read_text()
    assert len(neighbours()) > 1
    assert [kind for kind in neighbours() if f"`{kind}`" not in text] == []


def test_each_method_is_among_the_commands_of_the_readme() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    missing = [
        each.command
        for each in METHODS.values()
        if not any(line.startswith(f"plimsoll {each.command} ") for line in lines)
    ]
    assert missing == []
