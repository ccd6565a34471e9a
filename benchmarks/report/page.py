"""What the page of a run of hours weighs, and how soon a browser shows it.

`python -m benchmarks.report.page` searches on a simulated DUT, in simulated time, validates for
three hours (10,800 intervals), and opens the report in headless Chromium: until the document is
there, until the first screen's three charts are drawn, and until all charts are. `--run RUN`
measures the page of a run that there is, anew.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.methods.load_line.run import find_load_line
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report import write_report

_FIRST_SCREEN = (
    "() => [...document.querySelectorAll('.key .chart')].every(c => 'drawn' in c.dataset)"
)
_ALL = (
    "() => [...document.querySelectorAll('.chart')]"
    ".every(c => 'drawn' in c.dataset || c.closest('details:not([open])'))"
)
_PATIENCE_MS = 120_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the weights and the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, help="a run directory; without it one is simulated")
    parser.add_argument("--times", type=int, default=3, help="how often the page is opened")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        run = RunDirectory.open(options.run) if options.run else simulated(Path(folder))
        began = time.monotonic()
        page = write_report(run)
        print(f"written in {time.monotonic() - began:.1f} s")
        print_weights(page)
        print_times(page, options.times)


class Silent:
    """A ProgressListener that says nothing."""

    def note(self, text: str) -> None:
        """No one reads along."""

    def trial_started(self, number: int, phase: TrialPhase, plan: TrialPlan) -> None:
        """The same."""

    def interval(self, interval: Interval) -> None:
        """The same."""

    def trial_ended(self, record: TrialRecord) -> None:
        """The same."""


def simulated(folder: Path) -> RunDirectory:
    """The record of a search whose validation held for three hours."""
    experiment = Experiment.model_validate(
        {
            "name": "three-hours",
            "lab": {"kind": "simulated", "model": {"kind": "queueing"}},
            "profile": {
                "streams": [
                    {"name": "load", "role": "load"},
                    {"name": "probe", "role": "latency", "rate": "1000pps"},
                ]
            },
            "search": {
                "strategy": "binary",
                "minimum": "50kpps",
                "maximum": "1Mpps",
                "granularity": "20%",
                "duration": "10s",
                "validation": {"duration": "3h"},
            },
        }
    )
    run = RunDirectory.create(folder, "three-hours", experiment.normalised())
    find_load_line(experiment, run, Silent())
    return run


def print_weights(page: Path) -> None:
    """Of the whole and of its parts."""
    text = page.read_text(encoding="utf-8")
    library = _script(text, "library")
    drawings = _script(text, "drawings")
    print(f"page {len(text.encode()) / 1e6:.2f} MB")
    print(f"  chart library, gzipped {len(library) / 1e6:.2f} MB")
    print(f"  charts {len(drawings) / 1e6:.2f} MB, the heaviest:")
    charts = json.loads(drawings)["charts"].items()
    sizes = sorted(((len(json.dumps(chart)), name) for name, chart in charts), reverse=True)
    for size, name in sizes[:5]:
        print(f"    {name:<24} {size / 1e3:8.1f} kB")


def print_times(page: Path, times: int) -> None:
    """Each opening in a new, empty browser context."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
            args=["--no-sandbox"],
        )
        for _ in range(times):
            tab = browser.new_page(viewport={"width": 1400, "height": 900})
            print("  ".join(f"{what} {s:.2f} s" for what, s in opened(tab, page).items()))
            tab.close()
        browser.close()


def opened(tab: Page, page: Path) -> dict[str, float]:
    """Seconds since the address was typed."""
    began = time.monotonic()
    tab.goto(page.resolve().as_uri())
    found = {"document": time.monotonic() - began}
    for what, ready in (("first screen", _FIRST_SCREEN), ("all charts", _ALL)):
        tab.wait_for_function(ready, timeout=_PATIENCE_MS)
        found[what] = time.monotonic() - began
    return found


def _script(text: str, name: str) -> str:
    found = re.search(rf'id="{name}">(.*?)</script>', text, re.DOTALL)
    return found[1] if found else ""


if __name__ == "__main__":
    main()
