"""No stand-in for the clock or the kernel is met by a thread of another test's."""

import os
import re
import threading
from pathlib import Path

import pytest

from tests.this_thread import in_this_thread

TESTS = Path(__file__).parents[1]
EVERYBODYS = r'setattr\(\s*(?:"time\.|time, |os, "(?:open|stat|read|write)")'


def test_another_thread_goes_on_with_the_real_one() -> None:
    found: list[str] = []

    def ask() -> None:
        found.append(named())

    named = in_this_thread(lambda: "real", lambda: "stand-in")
    other = threading.Thread(target=ask)
    other.start()
    other.join()
    ask()
    assert found == ["real", "stand-in"]


@pytest.mark.parametrize("folder", ["unit", "integration"])
def test_every_such_stand_in_is_of_one_thread(folder: str) -> None:
    for path in (TESTS / folder).rglob("*.py"):
        if path == Path(__file__):
            continue
        text = path.read_text()
        of_everybody = len(re.findall(EVERYBODYS, text))
        assert text.count("in_this_thread(") >= of_everybody, os.path.relpath(path)
