"""Neighbours as the rows of a trial's table."""

from plimsoll.neighbours.neighbour import NeighbourRun
from plimsoll.report.figures.table import ReportTable
from plimsoll.report.parts.trial_details import NOISE_COLUMNS, noise_cells
from tests.unit.record.neighbour_records import neighbour
from tests.worded.says import Says


def shown(noise: NeighbourRun) -> dict[str, str]:
    """By the column's heading."""
    headings, (row,) = ReportTable("noise", NOISE_COLUMNS, noise_cells((noise,))).words()
    return dict(zip(headings, row, strict=True))


def test_a_line_says_what_was_meant_where_and_what_came_of_it(says: Says) -> None:
    line = shown(neighbour(cpus=[1, 2, 3], cgroup="noisy.slice", level=""))
    assert line["Noise"] == "stress-ng timer"
    assert line["Meant to do"] == says()
    assert line["Where"] == "CPU 1-3, cgroup noisy.slice"
    assert (line["Workers"], line["Did"], line["CPU time"]) == ("1", "9,876 bogo-ops/s", "250ms")


def test_bytes_are_megabytes() -> None:
    assert shown(neighbour(unit="B/s", intensity=312721284.8))["Did"] == "312.7 MB/s"


def test_what_is_not_known_is_said(says: Says) -> None:
    killed = shown(neighbour(intensity=None, cpu_s=None, unknown="no report"))
    assert killed["CPU time"] == ""
    assert killed["Did"] == says("report")
    assert shown(neighbour(ended_early="exited with status 2"))["Did"] == says("2")
