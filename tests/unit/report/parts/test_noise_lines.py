"""Neighbours as the rows of a trial's table."""

from plimsoll.report.parts.trial_details import noise_lines
from tests.unit.record.neighbour_records import neighbour
from tests.worded.says import Says


def test_a_line_says_what_was_meant_where_and_what_came_of_it(says: Says) -> None:
    (line,) = noise_lines((neighbour(cpus=[1, 2, 3], cgroup="noisy.slice", level=""),))
    assert line.name == "stress-ng timer"
    assert line.level == says()
    assert line.place == "CPU 1-3, cgroup noisy.slice"
    assert (line.workers, line.did, line.cpu_time) == (1, "9,876 bogo-ops/s", "250ms")


def test_bytes_are_megabytes() -> None:
    (line,) = noise_lines((neighbour(unit="B/s", intensity=312721284.8),))
    assert line.did == "312.7 MB/s"


def test_what_is_not_known_is_said(says: Says) -> None:
    (killed,) = noise_lines((neighbour(intensity=None, cpu_s=None, unknown="no report"),))
    assert killed.cpu_time == ""
    assert killed.did == says("report")
    (early,) = noise_lines((neighbour(ended_early="exited with status 2"),))
    assert early.did == says("2")
