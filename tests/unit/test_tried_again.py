"""What the machine does to a trial is told from what the DUT does, and from mistakes of ours."""

import ast
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import Workplace
from tests.integration.turns import refuse_taken
from tests.integration.unspoilt import BY_THE_MACHINE, OURS, unspoilt
from tests.tried_again import ATTEMPTS, SpoiltByMachine, tried_again

JUDGING = Path(__file__).parents[2] / "plimsoll/trial/judging"
PASS, FAIL, INVALID, REFUSED = 0, 1, 5, 3


class Scripted(Workplace):
    """A command that writes these events and ends with this code."""

    def __init__(self, folder: Path, code: int, *events: dict[str, Any], said: str = "") -> None:
        super().__init__(folder, folder / "state")
        self._code, self._events, self._said = code, events, said

    def run(self, *words: object, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        run = self.runs / "only"
        run.mkdir(parents=True, exist_ok="--resume" in words)
        with (run / "journal.jsonl").open("a") as file:
            file.writelines(json.dumps(each) + "\n" for each in self._events)
        # As every command of a workplace.
        refuse_taken(self._said)
        return subprocess.CompletedProcess(words, self._code, "", self._said)


def trial(verdict: str, *rules: str) -> dict[str, Any]:
    outcome = "ok" if verdict == "pass" else verdict
    findings = [{"rule": rule, "outcome": outcome, "text": f"{rule}!"} for rule in rules]
    return {"kind": "trial", "trial": {"verdict": verdict, "findings": findings}}


@pytest.mark.parametrize(
    "events",
    [
        [trial("invalid", "stall")],
        # What follows from it, and a trial that was valid, change nothing.
        [trial("pass"), trial("invalid", "latency-p99", "stall")],
        # Frames that the tester's port had no room for are missing in its counters.
        [trial("invalid", "dut-counters", "unread-frames", "stall")],
    ],
)
def test_what_the_machine_spoilt_is_put_aside(tmp_path: Path, events: list[dict[str, Any]]) -> None:
    place = Scripted(tmp_path, INVALID, *events)
    with pytest.raises(SpoiltByMachine, match="!"):
        unspoilt(place, "trial", "--runs", place.runs)
    assert list(place.runs.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "events"),
    [
        (PASS, [trial("pass", "stall")]),
        (FAIL, [trial("fail", "loss-ratio")]),
        # By a rule that no busy machine breaks, also next to one that it does.
        (INVALID, [trial("invalid", "negative-loss", "stall")]),
        (INVALID, [trial("invalid", "dut-counters", "stall")]),
        (INVALID, [trial("invalid", "latency-p99")]),
        (INVALID, [trial("invalid", "stall"), {"kind": "died"}]),
        (INVALID, [trial("invalid", "stall"), trial("invalid", "link")]),
        (INVALID, []),
        (REFUSED, []),
    ],
)
def test_what_is_not_the_machines_doing_stands(
    tmp_path: Path, code: int, events: list[dict[str, Any]]
) -> None:
    place = Scripted(tmp_path, code, *events)
    assert unspoilt(place, "run", "--runs", place.runs).returncode == code
    assert place.only_run().exists()


def test_a_run_that_was_there_before_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "runs/earlier").mkdir(parents=True)
    place = Scripted(tmp_path, INVALID, trial("invalid", "stall"))
    with pytest.raises(SpoiltByMachine):
        unspoilt(place, "run", "--runs", place.runs)
    assert place.only_run().name == "earlier"


def test_so_it_is_with_a_run_that_is_resumed(tmp_path: Path) -> None:
    place = Scripted(tmp_path, INVALID, trial("invalid", "stall"))
    (place.runs / "only").mkdir(parents=True)
    with pytest.raises(SpoiltByMachine):
        unspoilt(place, "run", "--resume", place.only_run())


def test_a_cpu_that_a_run_of_somebody_else_s_polls_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[None] = []
    monkeypatch.setattr("tests.integration.turns.wait_for_cpus", lambda: waited.append(None))
    place = Scripted(tmp_path, REFUSED, said="error: lab.cpu: CPU 1 is polled by run-1 (x 5)")
    with pytest.raises(SpoiltByMachine, match="CPU 1 is polled by"):
        unspoilt(place, "run", "--runs", place.runs)
    assert waited == [None]
    assert list(place.runs.iterdir()) == []


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The reasons; this session's own summary says nothing of them."""
    reasons: list[str] = []
    monkeypatch.setattr("tests.tried_again._tell", lambda _, reason: reasons.append(reason))
    return reasons


@pytest.mark.parametrize("spoilt", range(ATTEMPTS))
def test_a_fixture_is_made_by_the_attempt_that_was_not_spoilt(told: list[str], spoilt: int) -> None:
    attempts = iter(range(ATTEMPTS))

    def make() -> int:
        if (number := next(attempts)) < spoilt:
            raise SpoiltByMachine(f"stall {number}")
        return number

    assert tried_again(make) == spoilt
    assert told == [f"stall {number}" for number in range(spoilt)]


@pytest.mark.parametrize(("error", "calls"), [(SpoiltByMachine, ATTEMPTS), (AssertionError, 1)])
def test_a_machine_that_spoils_every_attempt_and_other_errors_fail(
    told: list[str], error: type[AssertionError], calls: int
) -> None:
    made: list[None] = []

    def make() -> None:
        made.append(None)
        raise error("a frame is missing")

    with pytest.raises(error, match="a frame is missing"):
        tried_again(make)
    assert (len(made), len(told)) == (calls, calls - 1)


def test_every_rule_by_which_the_tester_judges_itself_is_sorted() -> None:
    """A new one has to be, before a test is repeated for it or not."""
    names = ("tester.py", "tester_losses.py")
    nodes = [node for name in names for node in ast.walk(ast.parse((JUDGING / name).read_text()))]
    found = {rule for node in nodes if isinstance(node, ast.Call) for rule in _rules(node)}
    assert {"stall", "no-buffer", "unread-frames", "tester-losses"} <= found
    assert found <= BY_THE_MACHINE | OURS
    assert not BY_THE_MACHINE & OURS


def _rules(call: ast.Call) -> list[str]:
    """What the call of a Finding names as its rule, first or by name."""
    if not isinstance(call.func, ast.Name) or call.func.id not in ("Finding", "_frame_finding"):
        return []
    named = [each.value for each in call.keywords if each.arg == "rule"]
    given = (*named, *call.args[:1])[:1]
    return [str(each.value) for each in given if isinstance(each, ast.Constant)]
