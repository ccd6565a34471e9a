"""The documentation of the import."""

import re
from pathlib import Path

import pytest

from plimsoll.benchmark.trafficgen.options import OPTIONS

DOCS = Path(__file__).parents[4] / "docs"


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_is_in_the_table(name: str) -> None:
    table = (DOCS / "searches.md").read_text()
    stateful = name.removeprefix("astf-")
    assert f"`--{name}`" in table or (stateful != name and f"`{stateful}`" in table)


def test_no_option_is_named_that_trafficgen_does_not_have() -> None:
    ours = {"profile", "trex-cfg", "name", "output"}
    named = set(re.findall(r"`?--([a-z][a-z0-9-]*[a-z0-9])", (DOCS / "trafficgen.md").read_text()))
    abbreviated = {"rate-tol", "send-teaching", "teaching"}
    assert named - ours - abbreviated <= set(OPTIONS)
