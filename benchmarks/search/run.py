"""Every strategy against every simulated DUT: prints a table, writes it as JSON.

Run it from the repository's root as a module, or by `make bench-search`. Time is simulated:
hours of trials pass in seconds. docs/load-line.md says what the figures are.
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
from typing import TypeVar, get_args

from rich.console import Console

from benchmarks.search.contestants import CONTESTANTS
from benchmarks.search.experience import Experience, experience
from benchmarks.search.families import FamilyChoice
from benchmarks.search.subjects import subject_names, subject_of
from benchmarks.search.summary import Summary, summarise
from benchmarks.search.table import markdown, table

_SEEDS, _QUICK_SEEDS = 200, 10
# So many seeds are one task of a worker.
_BATCH = 5

T = TypeVar("T")

stderr = Console(stderr=True, highlight=False, soft_wrap=True)


def main() -> int:
    """Run what the command line asks for; the exit status."""
    options = _options()
    chosen = _chosen(options.models, _on_offer(options))
    contestants = _chosen(options.strategies, CONTESTANTS)
    count = _QUICK_SEEDS if options.quick else options.seeds
    seeds = range(options.first_seed, options.first_seed + count)
    found = _read(options.output) if options.resume else []
    with ProcessPoolExecutor(options.jobs) as pool:
        for subject, contestant in itertools.product(chosen, contestants):
            begun = time.monotonic()
            missing = _missing(found, subject, contestant, seeds)
            tasks = _batches(subject, contestant, missing, options.limit)
            for batch in pool.map(_batch, *zip(*tasks, strict=True)) if tasks else ():
                found += batch
                # Each time, so that what was found is not lost with what was not.
                _write(options.output, _summaries(found), found)
            took_s = time.monotonic() - begun
            stderr.print(f"{subject}, {contestant}: {len(missing)} searches in {took_s:.0f} s")
    summaries = _summaries(found)
    if options.markdown:
        print(markdown(summaries))
    else:
        width = None if sys.stdout.isatty() else 160
        Console(width=width, highlight=False).print(table(summaries))
    return 0


def _missing(
    found: Sequence[Experience], subject: str, contestant: str, seeds: range
) -> Sequence[int]:
    """The seeds that were not run before."""
    ran = {each.seed for each in found if (each.subject, each.contestant) == (subject, contestant)}
    return [seed for seed in seeds if seed not in ran]


def _summaries(found: Sequence[Experience]) -> list[Summary]:
    """One of each model or family and strategy, in the order in which they were run."""
    groups: dict[tuple[str, str], list[Experience]] = {}
    for each in found:
        groups.setdefault((each.subject, each.contestant), []).append(each)
    return [summarise(mine) for mine in groups.values()]


def _batches(
    subject: str, contestant: str, seeds: Sequence[int], limit: float | None
) -> list[tuple[str, str, Sequence[int], float | None]]:
    starts = range(0, len(seeds), _BATCH)
    return [(subject, contestant, seeds[start : start + _BATCH], limit) for start in starts]


def _batch(
    subject: str, contestant: str, seeds: Sequence[int], limit: float | None
) -> list[Experience]:
    return [experience(subject_of(subject, seed, limit), contestant, seed) for seed in seeds]


def _on_offer(options: argparse.Namespace) -> Mapping[str, str]:
    """What is run by default, or, where names are given, what they may be."""
    return subject_names("all" if options.models else options.families)


def _read(path: Path) -> list[Experience]:
    """The searches of an earlier run; none where there was none."""
    if not path.exists():
        return []
    document = json.loads(path.read_text(encoding="utf-8"))
    return [Experience(**row) for row in document["searches"]]


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
    chosen = names.split(",")
    if unknown := [name for name in chosen if name not in known]:
        sys.exit(f"unknown: {', '.join(unknown)}; there are {', '.join(known)}")
    return {name: each for name, each in known.items() if name in chosen}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=_SEEDS, help="searches per model and strategy")
    parser.add_argument("--first-seed", type=int, default=0, help="to add to a run of others")
    parser.add_argument("--quick", action="store_true", help=f"only {_QUICK_SEEDS} seeds")
    parser.add_argument(
        "--families",
        choices=get_args(FamilyChoice),
        default="tuning",
        help="which families of DUTs: those to tune on (and all single models), those held out, "
        "or all",
    )
    parser.add_argument("--models", help="of models and families, comma-separated")
    parser.add_argument("--strategies", help="comma-separated; all by default")
    parser.add_argument(
        "--limit", type=float, help="the loss ratio that DUTs of families may have; else their own"
    )
    parser.add_argument(
        "--resume", action="store_true", help="keep what the output file has, and run the rest"
    )
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--markdown", action="store_true", help="print the table for a document")
    parser.add_argument("--output", type=Path, default=Path("build/bench/search.json"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
