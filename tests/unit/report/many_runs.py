"""Pages about many runs, for a reader to look at."""

from pathlib import Path
from random import Random

from plimsoll.analysis.comparison.changes import sides_by
from plimsoll.analysis.comparison.comparison import compare
from plimsoll.analysis.comparison.side import find_side
from plimsoll.analysis.comparison.trend.trend import releases_of, trend
from plimsoll.record.index.find import read_index
from plimsoll.record.index.run_notes import change_notes
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.pages.comparison.page import comparison_page
from plimsoll.report.pages.trend.page import trend_page
from tests.unit.record.index.run_dirs import (
    EXPERIMENT,
    NOON_NS,
    RESULT,
    finished,
    make_run,
    started,
)
from tests.unit.report.sample_run import write_sample_run

_HOUR_NS = 3_600_000_000_000
_STEP = 9


def released_runs(root: Path) -> None:
    """Twelve releases of three repetitions, with tags; from the tenth on 2.5 % are lost."""
    random = Random(12)  # noqa: S311
    for number in range(36):
        release = number // 3
        level = 3.0e6 if release < _STEP else 2.925e6
        line = {**RESULT["load_line"], "pps_per_direction": random.gauss(level, 0.003 * level)}
        begin = NOON_NS + number * _HOUR_NS
        kind = "testpmd-memif" if release < _STEP else "external"
        path = make_run(
            root,
            f"run-{number:02d}",
            experiment=EXPERIMENT.replace("testpmd-memif", kind),
            events=[started(at_unix_ns=begin), finished(begin + 60)],
            result={**RESULT, "load_line": line},
        )
        tags = {"release": f"4.{8 + release}", "kernel": f"6.{release % 3}"}
        change_notes(RunDirectory(path), lambda known, tags=tags: known.tagged(tags, []))


def write_trend_page(folder: Path) -> Path:
    """Of those runs, by release."""
    released_runs(folder / "runs")
    found = trend(releases_of(read_index(folder / "runs"), "release", "measured").sides)
    path = folder / "trend.html"
    path.write_text(trend_page(found, by="release", command="plimsoll trend"), encoding="utf-8")
    return path


def write_grid_page(folder: Path) -> Path:
    """The same runs by two facts."""
    released_runs(folder / "runs")
    facts = ["kernel", "experiment.lab.kind"]
    found = compare(sides_by(read_index(folder / "runs"), facts))
    path = folder / "grid.html"
    page = comparison_page(found, command="plimsoll compare", facts=facts)
    path.write_text(page, encoding="utf-8")
    return path


def write_comparison_page(folder: Path) -> Path:
    """Of two runs with all that a run records."""
    for name in ("old", "new"):
        write_sample_run(folder / "runs", name=name)
    sides = [find_side(f"*-{name}", folder / "runs") for name in ("old", "new")]
    path = folder / "comparison.html"
    page = comparison_page(compare(sides), command="plimsoll compare")
    path.write_text(page, encoding="utf-8")
    return path
