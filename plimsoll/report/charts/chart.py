"""What a chart of a run's page is: how it is drawn, where it stands, and what it needs read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from plimsoll.report.data.run_data import RunData
from plimsoll.report.figures.figure import Figure

# The parts of the page of a search for the load line in which charts stand.
PagePart = Literal["first-screen", "latency", "causes", "offered", "lost", "tester", "hosts"]


@dataclass(frozen=True, slots=True)
class Chart:
    """A module of this folder that says `CHART = ` one has it drawn.

    `order` is its place among the charts of its section, the least first. `types` are the metric
    types whose rows of the focus trial it draws: `RunData.series` has them, and no others.
    """

    draw: Callable[[RunData], Figure]
    section: PagePart
    order: int = 0
    types: tuple[str, ...] = ()
