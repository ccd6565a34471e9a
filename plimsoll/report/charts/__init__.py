"""The report's charts: each module here, or in a folder here, that says `CHART = ` is one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import get_args

from plimsoll.plug_ins import registered
from plimsoll.report.charts.chart import Chart, PagePart
from plimsoll.report.data.run_data import RunData
from plimsoll.report.figures.figure import Figure

_FOLDERS = (__name__, f"{__name__}.latency", f"{__name__}.hosts")


@cache
def charts() -> tuple[Chart, ...]:
    """All, in the order in which they stand in their sections."""
    return tuple(sorted(registered(_FOLDERS, "CHART"), key=lambda each: each.order))


def drawn_types() -> tuple[str, ...]:
    """The metric types that charts draw. Hours of all types would be millions of rows."""
    return tuple(sorted({name for each in charts() for name in each.types}))


def figures_of(data: RunData) -> Mapping[PagePart, tuple[Figure, ...]]:
    """The charts of each section of a run's page; none of what was not looked at in the run."""
    looked_at = {"causes": bool(data.causes), "hosts": bool(data.hosts and data.hosts.hosts)}
    return {
        section: tuple(each.draw(data) for each in charts() if each.section == section)
        if looked_at.get(section, True)
        else ()
        for section in get_args(PagePart)
    }
