"""Every strategy against every simulated DUT: prints a table, writes it as JSON.

Run it from the repository's root, or by `make bench-search`. Time is simulated: hours of
trials pass in seconds. docs/load-line.md says what the figures are.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

from contestants import CONTESTANTS
from experience import Experience, experience
from rich.console import Console
from subjects import Subject, subjects
from summary import Summary, summarise
from table import markdown, table

_SEEDS, _QUICK_SEEDS = 200, 10
# So many seeds are one task of a worker.
_BATCH = 10

T = TypeVar("T")

stderr = Console(stderr=True, highlight=False, soft_wrap=True)


def main() -> int:
    """Run what the command line asks for; the exit status."""
    options = _options()
    chosen = _chosen(options.models, subjects())
    contestants = _chosen(options.strategies, CONTESTANTS)
    seeds = _QUICK_SEEDS if options.quick else options.seeds
    summaries: list[Summary] = []
    found: list[Experience] = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for subject, contestant in itertools.product(chosen.values(), contestants):
            begun = time.monotonic()
            batches = pool.map(_batch, *zip(*_batches(subject, contestant, seeds), strict=True))
            mine = list(itertools.chain.from_iterable(batches))
            found += mine
            summaries.append(summarise(subject, contestant, mine))
            took_s = time.monotonic() - begun
            stderr.print(f"{subject.name}, {contestant}: {seeds} searches in {took_s:.0f} s")
            # Each time, so that what was found is not lost with what was not.
            _write(options.output, summaries, found)
    if options.markdown:
        print(markdown(summaries))
    else:
        width = None if sys.stdout.isatty() else 160
        Console(width=width, highlight=False).print(table(summaries))
    return 0


def _batches(subject: Subject, contestant: str, seeds: int) -> list[tuple[Subject, str, range]]:
    starts = range(0, seeds, _BATCH)
    return [(subject, contestant, range(start, min(start + _BATCH, seeds))) for start in starts]


def _batch(subject: Subject, contestant: str, seeds: Sequence[int]) -> list[Experience]:
    return [experience(subject, contestant, seed) for seed in seeds]


def _write(path: Path, summaries: Sequence[Summary], found: Sequence[Experience]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "summaries": [each.row() for each in summaries],
        "searches": [each.row() for each in found],
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _chosen(names: str | None, known: Mapping[str, T]) -> Mapping[str, T]:
    """Those named, in the order of all that are known."""
    if names is None:
        return known
    asked = names.split(",")
    if unknown := [name for name in asked if name not in known]:
        sys.exit(f"unknown: {', '.join(unknown)}; there are {', '.join(known)}")
    return {name: each for name, each in known.items() if name in asked}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=_SEEDS, help="searches per model and strategy")
    parser.add_argument("--quick", action="store_true", help=f"only {_QUICK_SEEDS} seeds")
    parser.add_argument("--models", help="comma-separated; all by default")
    parser.add_argument("--strategies", help="comma-separated; all by default")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--markdown", action="store_true", help="print the table for a document")
    parser.add_argument("--output", type=Path, default=Path("build/bench/search.json"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
