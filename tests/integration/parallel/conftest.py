"""Tests of whole programs that start no engine, and so poll no CPU."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from plimsoll.generator.engine.program import ENGINE_VARIABLE
from tests.integration.parallel.chromium import CHROMIUM


@pytest.fixture(scope="module", autouse=True)
def _no_polling_loop() -> Iterator[None]:
    """A test that starts an engine belongs above this folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ENGINE_VARIABLE, "/there/is/no/engine/for/tests/in/parallel")
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()
