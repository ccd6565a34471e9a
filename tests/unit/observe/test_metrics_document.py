"""docs/metrics.md lists every type that an observer may tell."""

from pathlib import Path

import pytest

from plimsoll.observe.agent.registry import OBSERVERS
from plimsoll.observe.reading.observer import Observer

DOCUMENT = (Path(__file__).parents[3] / "docs/metrics.md").read_text()


@pytest.mark.parametrize("observer", OBSERVERS, ids=lambda each: each.__name__)
def test_its_types_are_in_the_document(observer: type[Observer]) -> None:
    assert f"| {observer.source} |" in DOCUMENT
    assert [each.type for each in observer.types if f"`{each.type}`" not in DOCUMENT] == []
