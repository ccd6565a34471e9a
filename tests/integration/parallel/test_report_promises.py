"""What a reader of a report is promised, in a real browser: the answer at once, nothing cut off."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from plimsoll.report import write_report
from tests.integration.parallel.chromium import needs_chromium, serious_of
from tests.unit.methods.soak.soak_runs import soak_settings, soaked
from tests.unit.report.many_runs import (
    write_comparison_page,
    write_grid_page,
    write_trend_page,
)
from tests.unit.report.sample_run import STEPS, write_sample_run

SCREEN = {"width": 1400, "height": 900}
PHONE = {"width": 420, "height": 900}
ALL_DRAWN = (
    "() => [...document.querySelectorAll('.chart')]"
    ".every(c => 'drawn' in c.dataset || c.closest('details:not([open])'))"
)

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def load_line(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(write_sample_run(tmp_path_factory.mktemp("runs")))


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("runs")
    return write_report(write_sample_run(runs, steps=STEPS[:8], finished=False))


@pytest.fixture(scope="module")
def soak(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(soaked(tmp_path_factory.mktemp("soak"), soak_settings())[0])


@pytest.fixture(scope="module")
def trend(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_trend_page(tmp_path_factory.mktemp("trend"))


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_comparison_page(tmp_path_factory.mktemp("comparison"))


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_grid_page(tmp_path_factory.mktemp("grid"))


# Two of different makes are enough of a promise that all keep.
@pytest.fixture(
    scope="module",
    params=[
        "load_line",
        pytest.param("unfinished", marks=pytest.mark.slow),
        pytest.param("soak", marks=pytest.mark.slow),
        pytest.param("trend", marks=pytest.mark.slow),
        "comparison",
        pytest.param("grid", marks=pytest.mark.slow),
    ],
)
def report(request: pytest.FixtureRequest) -> Path:
    path: Path = request.getfixturevalue(request.param)
    return path


@dataclass
class Opened:
    """A page whose charts are drawn and which is unfolded, and what it did until then."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def load(self, report: Path) -> None:
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(report.as_uri())
        self.page.wait_for_function(ALL_DRAWN, timeout=300_000)
        self.page.evaluate(
            "document.querySelectorAll('details').forEach(each => { each.open = true })"
        )


@pytest.fixture(scope="module")
def on_screen(browser: Browser, report: Path) -> Iterator[Opened]:
    """Every report once, for the tests that change nothing in it."""
    page = Opened(browser.new_page(viewport=SCREEN))
    page.load(report)
    yield page
    page.page.close()


@pytest.fixture(scope="module")
def on_phone(browser: Browser, report: Path) -> Iterator[Page]:
    page = Opened(browser.new_page(viewport=PHONE))
    page.load(report)
    yield page.page
    page.page.close()


def opened(browser: Browser, report: Path) -> Page:
    page = browser.new_page(viewport=SCREEN)
    page.goto(report.as_uri())
    page.wait_for_function(ALL_DRAWN, timeout=300_000)
    return page


def test_the_first_screen_has_the_answer_its_criteria_and_three_charts(
    browser: Browser, load_line: Path
) -> None:
    page = opened(browser, load_line)
    for text in (
        "2.742",
        "validated for 1m00s",
        "Limited by the DUT",
        "Frame loss ratio",
        "Latency, p99",
        "2 of 11 judged trials were invalid",
    ):
        box = page.locator("#answer").get_by_text(text).first.bounding_box()
        assert box is not None, text
        assert box["y"] + box["height"] <= SCREEN["height"], text
    drawings = page.locator(".key .chart svg.marks")
    assert drawings.count() == 3
    for place in range(3):
        box = drawings.nth(place).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= SCREEN["height"]
    page.close()


def test_nothing_is_wider_than_the_screen(on_screen: Opened, on_phone: Page) -> None:
    for page, viewport in ((on_screen.page, SCREEN), (on_phone, PHONE)):
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_on_a_phone_no_cell_is_cut_off(on_phone: Page) -> None:
    cut = on_phone.evaluate(
        "[...document.querySelectorAll('td')].filter(cell => cell.textContent &&"
        " cell.getBoundingClientRect().right > innerWidth).map(cell => cell.textContent)"
    )
    assert cut == []
    assert on_phone.locator(".cards td[data-label]").count() > 0


def test_no_script_fails_and_nothing_is_requested_from_a_network(
    on_screen: Opened, report: Path
) -> None:
    assert on_screen.complaints == []
    assert on_screen.requests == [report.as_uri()]


def test_every_link_leads_somewhere_and_the_contents_name_every_section(on_screen: Opened) -> None:
    targets = on_screen.page.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')].filter(a => !a.closest('.vega-embed'))"
        ".map(a => a.getAttribute('href').slice(1))"
    )
    ids = on_screen.page.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert set(targets) <= set(ids)
    assert len(ids) == len(set(ids))
    sections = set(
        on_screen.page.evaluate("[...document.querySelectorAll('section')].map(s => s.id)")
    )
    assert sections <= set(targets)


# All pages have the colours of one style sheet, and those of the server are looked at in both.
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.full)])
def test_axe_finds_nothing_serious(on_screen: Opened, scheme: Literal["light", "dark"]) -> None:
    on_screen.page.emulate_media(color_scheme=scheme)
    assert serious_of(on_screen.page) == []


def test_a_trial_unfolds_to_its_own_charts_in_two_clicks(browser: Browser, load_line: Path) -> None:
    page = opened(browser, load_line)
    page.get_by_role("link", name="Trials", exact=True).click()
    page.locator("#trials table a", has_text="6").first.click()
    detail = page.locator("#trial-6")
    page.wait_for_function("() => document.getElementById('trial-6').open")
    page.wait_for_function(ALL_DRAWN, timeout=300_000)
    assert detail.locator(".chart svg.marks").count() == 2
    page.close()


def test_a_page_without_a_load_line_opens_with_the_reason(
    browser: Browser, unfinished: Path
) -> None:
    page = opened(browser, unfinished)
    answer = page.locator("#answer").inner_text()
    assert "No load line yet" in answer
    assert "plimsoll run --resume continues it" in answer
    assert page.locator("#answer .sides .ok").count() == 0
    page.close()


def test_the_first_screen_of_a_trend_has_the_change_and_its_chart(
    browser: Browser, trend: Path
) -> None:
    page = opened(browser, trend)
    # The ninth release of twelve, 4.8 being the first.
    for text in ("load line since 4.17", "95 % interval", "worse"):
        box = page.locator("#answer").get_by_text(text).first.bounding_box()
        assert box is not None, text
        assert box["y"] + box["height"] <= SCREEN["height"], text
    box = page.locator("#chart-trend-load-line svg.marks").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= SCREEN["height"]
    page.close()
