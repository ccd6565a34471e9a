"""A session's last section, and the file that its reasons are counted in."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.command import ROOT
from tests.tried_again import VARIABLE

INNER = """
import pytest
from tests.tried_again import ATTEMPTS, SpoiltByMachine, tried_again

made = []
calls = []

@pytest.fixture
def anew():
    made.append(None)
    return len(made)

@pytest.fixture(scope="module")
def once():
    attempts = iter((1, 2))
    def make():
        if next(attempts) == 1:
            raise SpoiltByMachine("the fixture was away")
    tried_again(make)

def test_one(anew, once):
    if anew == 1:
        raise SpoiltByMachine("the loop was away\\nfor long")
    assert anew == 2

def test_never():
    calls.append(None)
    raise SpoiltByMachine(f"away {len(calls)}")

def test_other():
    calls.append(None)
    assert len(calls) == ATTEMPTS, "a frame is missing"
"""


@pytest.mark.parametrize(
    "workers",
    [pytest.param((), id="here"), pytest.param(("-n", "1"), id="xdist", marks=pytest.mark.slow)],
)
def test_the_session_ends_with_what_was_tried_again(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    (tmp_path / "test_inner.py").write_text(INNER)
    counted = tmp_path / "tried-again.jsonl"
    words = ("-q", "-p", "no:cacheprovider", "-p", "tests.tried_again", *workers)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--rootdir", tmp_path, *words, tmp_path],
        cwd=ROOT,
        env={**os.environ, VARIABLE: str(counted)},
        capture_output=True,
        text=True,
        check=False,
    )
    # Each test is reported once, and other errors are not tried again.
    assert "2 failed, 1 passed" in done.stdout, done.stdout
    assert "SpoiltByMachine: away 3" in done.stdout
    expected = [
        ("test_one", "the fixture was away"),
        ("test_one", "the loop was away\nfor long"),
        ("test_never", "away 1"),
        ("test_never", "away 2"),
    ]
    said = [line for line in done.stdout.splitlines() if line.startswith("tried again: ")]
    assert said == [
        f"tried again: test_inner.py::{test}: {' '.join(reason.split())}"
        for test, reason in expected
    ]
    lines = [json.loads(line) for line in counted.read_text().splitlines()]
    assert [(each["test"], each["reason"]) for each in lines] == [
        (f"test_inner.py::{test}", reason) for test, reason in expected
    ]
