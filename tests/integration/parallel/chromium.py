"""The browser of tests that look at pages, and who cannot see them well."""

import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


def serious_of(page: Page, *, frames: bool = True) -> list[tuple[str, str]]:
    """What axe finds serious in a page, and in its frames: the rule and the first place."""
    found = Axe().run(page, options={"iframes": frames}).response["violations"]
    return [
        (each["id"], each["nodes"][0]["html"])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
