"""The report in a real browser, from a file, without a network."""

import re
import subprocess
from pathlib import Path

import pytest

from plimsoll.methods.probe.run import run_probe
from plimsoll.methods.probe.settings import ProbeSettings
from plimsoll.report import write_report
from tests.integration.parallel.chromium import CHROMIUM, needs_chromium
from tests.unit.benchmark.audits import audit_of, finding
from tests.unit.benchmark.simulated_tests import Seen, experiment, run_directory
from tests.unit.report.reader import Page
from tests.unit.report.sample_run import write_sample_run

CHARTS = ("search-path", "rx-rate", "latency-over-time", "latency-distribution", "latency-ccdf")

pytestmark = needs_chromium


def browse(page: Path, profile: Path, *arguments: str) -> tuple[str, str]:
    """What chromium prints, and what it and the page's console complain of."""
    assert CHROMIUM is not None
    finished = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={profile}",
            "--enable-logging=stderr",
            *arguments,
            page.as_uri(),
        ],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return finished.stdout, finished.stderr


def browse_until_drawn(page: Path, profile: Path, *charts: str) -> tuple[str, str]:
    """The same of its DOM, looked at until these charts are in it: they come after the page.

    The time is the page's own, which passes without one where the machine is busy.
    """
    for budget_ms in (10_000, 100_000, 1_000_000):
        found = browse(page, profile, f"--virtual-time-budget={budget_ms}", "--dump-dom")
        if all("<svg" in chart_in(found[0], name) for name in charts):
            break
    return found


def chart_in(dom: str, name: str) -> str:
    begin = dom.index(f'id="chart-{name}"')
    return dom[begin : dom.index("</figure>", begin)]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(write_sample_run(tmp_path_factory.mktemp("runs")))


@pytest.fixture(scope="module")
def browsed(report: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return browse_until_drawn(report, tmp_path_factory.mktemp("profile"), *CHARTS)


@pytest.mark.parametrize("name", CHARTS)
def test_each_chart_is_drawn(browsed: tuple[str, str], name: str) -> None:
    dom, _ = browsed
    chart = chart_in(dom, name)
    assert "<svg" in chart
    # Marks with a shape, beyond the axes' own lines.
    assert re.search(r'class="mark-(symbol|line|rule)[^"]*"[^>]*><path [^>]*d="M', chart)
    assert "<text" in chart


def test_the_pages_own_policy_stops_none_of_its_scripts(browsed: tuple[str, str]) -> None:
    _, console = browsed
    complaints = [line for line in console.splitlines() if "CONSOLE" in line]
    assert complaints == []


def test_nothing_is_loaded_from_outside(browsed: tuple[str, str]) -> None:
    dom, _ = browsed
    assert [address for address in Page(dom).addresses if not address.startswith("#")] == []


def test_a_standard_tests_page_keeps_to_the_same_policy(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    plan = experiment()
    run = run_directory(tmp_path, plan)
    run_probe(plan, ProbeSettings(duration_s=2), run, Seen())
    audit_of("bench-07", finding(26, "fail"), finding(33, "ok")).write(run.audit)
    page, profile = write_report(run), tmp_path_factory.mktemp("profile")
    dom, console = browse_until_drawn(page, profile, "probe-windows")
    assert "CONSOLE" not in console
    shown = Page(dom).text
    assert "During the longest trial in which probes were sent." in shown
    assert "1 fail · 1 ok" in shown
    assert "<svg" in chart_in(dom, "probe-windows")


def test_a_page_that_tries_to_load_is_stopped(
    report: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (tmp_path / "extra.css").write_text("body { color: red }")
    (tmp_path / "extra.js").write_text("document.title = 'taken over'")
    page = tmp_path / "report.html"
    extra = '<link rel="stylesheet" href="extra.css"><script src="extra.js"></script></body>'
    page.write_text(report.read_text(encoding="utf-8").replace("</body>", extra))
    dom, console = browse(page, tmp_path_factory.mktemp("profile"), "--dump-dom")
    assert "<title>taken over" not in dom
    assert console.count("Content Security Policy") >= 2


def test_it_can_be_printed_to_a_picture(
    report: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    picture = tmp_path / "report.png"
    browse(report, tmp_path_factory.mktemp("profile"), f"--screenshot={picture}")
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
