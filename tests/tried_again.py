"""A test that the machine has spoilt is tried again, says so, and is counted: a pytest plugin.

A trial that is invalid by the tester's own fault is no evidence about what a test asserts: a
user runs it again. So a test, or a fixture of its own, raises SpoiltByMachine, and is run once
more, its fixtures made anew, a few times at most. A trial that fails is never a reason.

Each reason is a line of the session's last section, also where xdist has workers run the tests,
and, with PLIMSOLL_TRIED_AGAIN set, a line of JSON in the file of that name: `time` (UTC), `test`
and `reason`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import pytest
from _pytest.runner import runtestprotocol

T = TypeVar("T")

ATTEMPTS = 3
VARIABLE = "PLIMSOLL_TRIED_AGAIN"
_PROPERTY = "tried again"
_SPOILT = pytest.StashKey[str | None]()
_SUMMARY = pytest.StashKey[list[str]]()

# Reasons of this process that no report has carried to the session yet.
_untold: list[str] = []


class SpoiltByMachine(AssertionError):
    """The machine was away for too long for what is tested to be seen."""


def tried_again(attempt: Callable[[], T]) -> T:
    """What `attempt` returns, made anew where it raises SpoiltByMachine, but for the last time.

    For fixtures of a module: those are not made anew with the test.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return attempt()
        except SpoiltByMachine as reason:
            # Its id, and the phase that pytest adds to it.
            running = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
            _tell(running, str(reason))
    return attempt()


def _tell(test: str, reason: str) -> None:
    _untold.append(reason)
    if name := os.environ.get(VARIABLE):
        time = datetime.now(UTC).isoformat(timespec="seconds")
        # One write, so that lines of several workers do not mix.
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"time": time, "test": test, "reason": reason}) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_SUMMARY] = []
    config.pluginmanager.register(_Collector(config), "plimsoll tried again")


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """As pytest's own, but that nobody is told the reports of an attempt that was spoilt."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in range(1, ATTEMPTS + 1):
        item.stash[_SPOILT] = None
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        reason = item.stash[_SPOILT]
        if reason is None or attempt == ATTEMPTS:
            break
        for report in reports:
            _untold.extend(_told_by(report))
        _tell(item.nodeid, reason)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.excinfo is not None and isinstance(call.excinfo.value, SpoiltByMachine):
        item.stash[_SPOILT] = str(call.excinfo.value)
    report.user_properties += [(_PROPERTY, reason) for reason in _untold]
    _untold.clear()
    return report


def _told_by(report: pytest.TestReport) -> list[str]:
    return [str(value) for name, value in report.user_properties if name == _PROPERTY]


class _Collector:
    """Takes them out of the reports, which xdist hands over from its workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._summary = config.stash[_SUMMARY]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._summary += [f"tried again: {report.nodeid}: {each}" for each in _told_by(report)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = terminalreporter.config.stash[_SUMMARY]
    if lines:
        terminalreporter.section("tried again, as the machine had spoilt it")
        for line in lines:
            terminalreporter.write_line(" ".join(line.split()))
