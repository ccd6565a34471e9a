"""Does `make test` pass every time, and how long does it take? One row a run, in runs.csv.

`make test-repeated`, or `python -m benchmarks.tests.repeated` from the repository's root, clones
the commit that is checked out into a new folder and runs `make test` there, as often as asked;
with --busy next to one process per CPU that computes without end. Rows are appended, so that a
table can grow over days. Parts may overlap, so they need not add up to the total.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.repeat.busy_cpus import busy_processes

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("runs.csv")
PARTS = ("set-up", "build", "linters", "unit", "integration")
COLUMNS = (
    *("date", "commit", "machine", "result", "minutes", *PARTS),
    *("passed", "skipped", "tried again", "failed"),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the tests of one run ended: counts, and the names of those that did not pass."""

    passed: int
    skipped: int
    failed: tuple[str, ...]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, print and append."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--busy", action="store_true", help="next to one busy process per CPU")
    parser.add_argument("--table", type=Path, default=TABLE)
    options = parser.parse_args(arguments)
    for _ in range(options.runs):
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="plimsoll-test-")))
            # Tests that act as another user read the clone, too.
            folder.chmod(0o755)
            if options.busy:
                stack.enter_context(busy_processes())
            row = one_run(folder, "busy" if options.busy else "idle")
        append(options.table, row)
        print("  ".join(f"{name}: {value}" for name, value in row.items()), flush=True)


def one_run(folder: Path, machine: str) -> dict[str, str]:
    """Clone into `folder`, run `make test` there; the row of the table."""
    clone = folder / "plimsoll"
    _git("clone", "--quiet", str(ROOT), str(clone))
    times, again = folder / "times", folder / "tried-again"
    environment = {
        **os.environ,
        "PLIMSOLL_TIMES": str(times),
        "PLIMSOLL_TRIED_AGAIN": str(again),
    }
    begin = time.monotonic()
    with (folder / "output").open("w") as output:
        done = subprocess.run(
            ["make", "test"],  # noqa: S607 - the user's own
            cwd=clone,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    minutes = (time.monotonic() - begin) / 60
    outcome = outcome_of((clone / "build/test-results").glob("*.xml"))
    if done.returncode and not outcome.failed:
        print((folder / "output").read_text()[-4000:])
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        "commit": _git("rev-parse", "--short", "HEAD"),
        "machine": machine,
        "result": "green" if done.returncode == 0 else f"exit {done.returncode}",
        "minutes": f"{minutes:.1f}",
        **{part: f"{value:.1f}" for part, value in minutes_by_part(_lines(times)).items()},
        "passed": str(outcome.passed),
        "skipped": str(outcome.skipped),
        "tried again": str(len(_lines(again))),
        "failed": " ".join(outcome.failed),
    }


def minutes_by_part(lines: Iterable[str]) -> dict[str, float]:
    """Minutes from each part's first beginning to its last end; each line is part, begin, end."""
    spans: dict[str, tuple[float, float]] = {}
    for line in lines:
        part, begin_s, end_s = line.split()
        first_s, last_s = spans.get(part, (float(begin_s), float(end_s)))
        spans[part] = (min(first_s, float(begin_s)), max(last_s, float(end_s)))
    return {
        part: (spans[part][1] - spans[part][0]) / 60 if part in spans else 0.0 for part in PARTS
    }


def outcome_of(reports: Iterable[Path]) -> Outcome:
    """What JUnit reports of pytest say."""
    cases = [case for report in reports for case in _cases(report)]
    failed = [case for case in cases if case.find("failure") is not None]
    failed += [case for case in cases if case.find("error") is not None]
    skipped = sum(case.find("skipped") is not None for case in cases)
    names = sorted({f"{case.get('classname')}::{case.get('name')}" for case in failed})
    return Outcome(len(cases) - skipped - len(names), skipped, tuple(names))


def append(table: Path, row: dict[str, str]) -> None:
    """Add a row, and the header where there is no table yet."""
    is_new = not table.exists()
    with table.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def _cases(report: Path) -> Iterator[ElementTree.Element]:
    # Made by our own pytest a moment ago.
    yield from ElementTree.parse(report).iter("testcase")  # noqa: S314


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _git(*words: str) -> str:
    command = ["git", *words]
    done = subprocess.run(  # noqa: S603 - no shell
        command, cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


if __name__ == "__main__":
    main()
