"""The pages of `plimsoll serve` in a real browser: clicks, keys, live values, all on the screen."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from plimsoll.record.run.journal import RUN_STARTED, TRIAL_STARTED, Journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.run.run_lock import is_held
from tests.integration.command import until
from tests.integration.parallel.chromium import needs_chromium, serious_of
from tests.integration.parallel.serve.served import (
    ENDLESS,
    Served,
    run_simulated,
    served,
    write_simulated,
)
from tests.unit.report.many_runs import released_runs

SCREEN = {"width": 1400, "height": 900}
PHONE = {"width": 420, "height": 900}
PATIENCE_MS = 300_000
expect.set_options(timeout=PATIENCE_MS)

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("browsed")
    run_simulated(folder, "first", "--tag", "kernel=6.1")
    run_simulated(folder, "second", "--tag", "kernel=6.12")
    write_simulated(folder, "endless", ENDLESS)
    with served(folder) as running:
        yield running
        for lock in running.runs.glob("*/lock"):
            if is_held(lock):
                os.kill(int(lock.read_text()), signal.SIGTERM)
                until(lambda each=lock: not is_held(each), "the run to end")


@pytest.fixture
def complaints() -> list[str]:
    return []


@pytest.fixture
def page(browser: Browser, server: Served, complaints: list[str]) -> Iterator[Page]:
    """A page on which no script may fail, and that requests nothing but from the server."""
    opened = known_page(browser, server)
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    requests: list[str] = []
    opened.on("request", lambda request: requests.append(request.url))
    yield opened
    opened.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith((server.address, "data:", "blob:"))] == []


def known_page(browser: Browser, server: Served) -> Page:
    """Of a browser that has logged in."""
    page = browser.new_page(viewport=SCREEN)
    page.set_default_timeout(PATIENCE_MS)
    name, _, value = server.new_session().partition("=")
    page.context.add_cookies([{"name": name, "value": value, "url": server.address}])
    return page


def run_of(server: Served, name: str) -> str:
    (run,) = server.runs.glob(f"*-{name}")
    return run.name


def test_runs_are_found_and_the_report_of_one_is_read(page: Page, server: Served) -> None:
    page.goto(server.address)
    # Next to those that other tests have started.
    for name in ("first", "second"):
        expect(page.get_by_role("link", name=name, exact=True)).to_have_count(1)
    page.get_by_role("searchbox", name="Name").fill("second")
    page.get_by_role("searchbox", name="Name").press("Enter")
    expect(page.locator("table.runs tbody tr")).to_have_count(1)
    page.get_by_role("link", name="second", exact=True).click()
    report = page.frame_locator("iframe.report")
    expect(report.locator("#answer")).to_contain_text("Simulated: the DUT is the model")
    expect(report.locator(".chart svg.marks").first).to_be_visible()


def test_a_report_cannot_reach_what_the_page_can(page: Page, server: Served) -> None:
    page.goto(f"{server.address}/runs/{run_of(server, 'first')}/")
    page.frame_locator("iframe.report").locator("#answer").wait_for()
    inside = next(frame for frame in page.frames if frame.url.endswith("/report"))
    assert inside.evaluate("self.origin") == "null"


def test_ticked_runs_are_compared_by_run_and_by_tag(page: Page, server: Served) -> None:
    page.goto(server.address)
    compare = page.get_by_role("button", name="Compare ticked")
    expect(compare).to_be_disabled()
    for name in ("first", "second"):
        page.get_by_label(f"Tick {run_of(server, name)}").check()
    compare.click()
    expect(page.locator("table.comparison tbody tr").first).to_contain_text("load line")
    expect(page.locator("table.comparison thead")).to_contain_text("baseline")
    expect(page.locator("table.changes")).to_contain_text("experiment.name")
    page.get_by_label("Sides").select_option("kernel")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".lead")).to_contain_text("kernel=6.12 against kernel=6.1")


@pytest.mark.slow
def test_ticked_runs_show_their_trend(page: Page, server: Served) -> None:
    page.goto(server.address)
    for name in ("first", "second"):
        page.get_by_label(f"Tick {run_of(server, name)}").check()
    page.get_by_role("button", name="Trend of ticked").click()
    expect(page.locator(".lead")).to_contain_text("load line: cannot tell; 2 runs of 2 releases")
    expect(page.locator(".chart svg.marks").first).to_be_visible()
    page.get_by_label("Releases by").fill("kernel")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".chart svg.marks").first).to_contain_text("6.12")
    page.get_by_role("searchbox", name="Name").fill("nosuch")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("alert")).to_contain_text("a trend takes two or more")


@pytest.mark.slow
def test_the_trend_of_releases_leads_to_the_first_run_of_a_change(
    browser: Browser, tmp_path: Path
) -> None:
    released_runs(tmp_path / "runs")
    with served(tmp_path) as running:
        page = known_page(browser, running)
        page.goto(running.address)
        page.get_by_role("link", name="Trend", exact=True).click()
        page.get_by_label("Releases by").fill("release")
        page.get_by_role("button", name="Show").click()
        expect(page.locator(".lead").first).to_contain_text("load line is worse: -2.")
        expect(page.locator("table.changes").first).to_contain_text("experiment.lab.kind")
        page.locator("table.trend").get_by_role("link", name="run-27").click()
        expect(page.locator(".run-facts")).to_contain_text("run-27")
        page.close()


def test_metrics_are_queried_by_clicks(page: Page, server: Served) -> None:
    page.goto(f"{server.address}/metrics?run={run_of(server, 'first')}")
    page.get_by_role("link", name="rx-pps", exact=True).click()
    expect(page.locator("table tbody tr")).to_have_count(1)
    # Two directions of 20 kpps, and the probe's thousand in both.
    expect(page.locator("table tbody tr td strong")).to_contain_text("42,000")
    expect(page.locator(".chart svg.marks")).to_be_visible()
    page.get_by_role("link", name="rx_port", exact=True).click()
    rows = page.locator("table tbody tr")
    expect(rows).to_have_count(2)
    page.get_by_role("link", name="1", exact=True).click()
    expect(rows).to_have_count(1)
    expect(page.locator("pre").last).to_contain_text("--breakout rx_port=1")
    page.get_by_label("stop splitting by rx_port=1").click()
    expect(page.locator("table thead")).not_to_contain_text("rx_port")


def test_an_experiment_is_checked_while_it_is_written(page: Page, server: Served) -> None:
    page.goto(f"{server.address}/experiments/new?file=first.yaml")
    expect(page.locator("#verdict")).to_have_text("Ready to run")
    page.get_by_label("Highest load").fill("5")
    page.get_by_label("Highest load").press("Tab")
    expect(page.locator("#mistakes")).to_contain_text("search.maximum: a rate of 5 has no unit")
    expect(page.locator("#mistakes")).to_contain_text("write 5pps if that is meant")
    expect(page.get_by_role("button", name="Start the run")).to_be_disabled()
    expect(page.locator("#text")).to_have_value(
        (server.folder / "first.yaml").read_text().replace("20kpps", "5")
    )
    page.get_by_role("button", name="line 5").click()
    picked = page.evaluate(
        "(t => t.value.slice(t.selectionStart, t.selectionEnd))(document.getElementById('text'))"
    )
    assert picked.startswith("search:")
    page.locator("#text").fill((server.folder / "second.yaml").read_text())
    expect(page.locator("#verdict")).to_have_text("Ready to run")
    expect(page.get_by_label("Highest load")).to_have_value("20kpps")


def test_a_run_is_started_seen_live_stopped_and_read_with_the_keyboard_alone(
    page: Page, server: Served
) -> None:
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{server.address}/experiments/new?file=endless.yaml")
    expect(page.locator("#verdict")).to_have_text("Ready to run")
    page.get_by_role("button", name="Start the run").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/*/")
    expect(page.locator("#live-phase")).to_contain_text("validation")
    expect(page.locator("#live-load")).to_have_text("20 kpps")
    expect(page.locator('[data-figure="loss"]')).to_have_text("0 %")
    expect(page.locator("#chart-live-rate svg.marks path[d*=L]").first).to_be_attached()
    expect(page.locator("#live-trials tr td").first).not_to_have_text("No trial has ended yet.")
    verdicts = page.locator('[data-verdict="pass"]')
    expect(verdicts).not_to_have_text("0")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert serious_of(page, frames=False) == []
    for viewport in (SCREEN, PHONE):
        page.set_viewport_size(viewport)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    page.set_viewport_size(SCREEN)
    page.get_by_role("button", name="Stop the run").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#live-phase")).to_have_text("The run is stopped")
    page.get_by_role("link", name="What it has found").click()
    expect(page.locator(".notice")).to_contain_text("This run was cut short.")
    report = page.frame_locator("iframe.report")
    expect(report.locator("#answer")).to_contain_text("No load line yet")


def test_nothing_moves_when_live_values_come(page: Page, server: Served) -> None:
    page.add_init_script(
        "window.shifts = 0; new PerformanceObserver(list => {"
        " for (const each of list.getEntries()) if (!each.hadRecentInput) shifts += each.value;"
        "}).observe({type: 'layout-shift', buffered: true})"
    )
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{server.address}/experiments/new?file=endless.yaml")
    expect(page.locator("#verdict")).to_have_text("Ready to run")
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_url("**/runs/*/")
    expect(page.locator("#chart-live-rate svg.marks path[d*=L]").first).to_be_attached()
    expect(page.locator('[data-figure="loss"]')).to_have_text("0 %")
    # "Good", by Web Vitals, is up to 0.1.
    assert page.evaluate("shifts") < 0.1
    page.get_by_role("button", name="Stop the run").click()
    expect(page.locator("#live-phase")).to_have_text("The run is stopped")


@pytest.mark.slow
def test_a_trial_that_is_silent_until_its_end_says_why(page: Page, server: Served) -> None:
    run = RunDirectory.create(server.runs, "silent", {"name": "silent"})
    with run.lock(), Journal(run.journal) as journal:
        journal.append(RUN_STARTED, method="load-line")
        journal.append(TRIAL_STARTED, number=1, phase="search", load_pps=1e6, planned_s=600)
        page.goto(f"{server.address}/runs/{run.run_id}/")
        expect(page.get_by_text("figures come when it ends")).to_be_visible()
        expect(page.locator("#live-left")).to_contain_text("left · running for")
        expect(page.locator("#live-load")).to_have_text("1 Mpps")
    expect(page.locator("#live-phase")).to_have_text("The run is stopped")
    shutil.rmtree(run.path)


PAGES = {
    "list": "/",
    "report": "/runs/{run}/",
    "files": "/runs/{run}/files/",
    "experiment": "/experiments/new?file=first.yaml",
    "metrics": "/metrics?run={run}&source=trafficgen&type=rx-pps&breakout=rx_port",
    "comparison": "/compare?run={run}&run={other}",
    "trend": "/trend?by=kernel",
    "nothing": "/nowhere",
}


@pytest.mark.parametrize(
    "name",
    [
        name if name in ("list", "report") else pytest.param(name, marks=pytest.mark.slow)
        for name in PAGES
    ],
)
def test_each_page_is_for_everybody(
    page: Page, server: Served, name: str, complaints: list[str]
) -> None:
    first, second = run_of(server, "first"), run_of(server, "second")
    for viewport, schemes in ((SCREEN, ("light", "dark")), (PHONE, ("light",))):
        page.set_viewport_size(viewport)
        page.goto(server.address + PAGES[name].format(run=first, other=second))
        page.wait_for_load_state("networkidle")
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            assert serious_of(page, frames=False) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        assert cut_off(page) == []
    if name == "nothing":
        # That the page itself is missing is reported by the browser.
        complaints[:] = [each for each in complaints if "404" not in each]


def cut_off(page: Page) -> list[str]:
    """Cells beyond the screen that no scrolling box holds."""
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('td, dd, a, button, label')].filter(each =>"
        " !each.closest('.scroll, .skip, .hidden') && each.textContent.trim() &&"
        " each.getBoundingClientRect().right > innerWidth + 1).map(each => each.textContent)"
    )
    return found
