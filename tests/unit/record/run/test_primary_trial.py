import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from plimsoll.record.run.journal import Journal
from plimsoll.record.run.primary_trial import primary_trial, primary_trial_number
from plimsoll.record.run.run_directory import RunDirectory


@dataclass(frozen=True)
class JudgedTrial:
    number: int
    phase: str
    verdict: str


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "demo", {})


WARMUP = (1, "warmup", "none")
FAILED, PASSED, LATER = (2, "search", "fail"), (3, "search", "pass"), (4, "search", "fail")
VALIDATION = (5, "validation", "fail")


@pytest.mark.parametrize(
    ("trials", "proof", "expected"),
    [
        ([], None, None),
        ([WARMUP], None, None),
        ([WARMUP, FAILED], None, 2),
        ([WARMUP, FAILED, PASSED, LATER], None, 3),
        ([PASSED, VALIDATION, (6, "search", "pass")], None, 5),
        ([PASSED, VALIDATION], 3, 3),
        ([PASSED], 9, None),
    ],
)
def test_the_most_telling_trial(
    run: RunDirectory, trials: list[tuple[int, str, str]], proof: int | None, expected: int | None
) -> None:
    found = primary_trial([JudgedTrial(*trial) for trial in trials], proof)
    assert (found.number if found else None) == expected
    if proof is None:
        with Journal(run.journal) as journal:
            for number, phase, verdict in trials:
                trial_ = {"number": number, "phase": phase, "verdict": verdict}
                journal.append("trial", trial=trial_)
        assert primary_trial_number(run) == expected


def test_the_result_says_which_trial_proved_it(run: RunDirectory) -> None:
    run.result.write_text(json.dumps({"validation": {"trial": 12}}))
    assert primary_trial_number(run) == 12


@pytest.mark.parametrize("result", ["{", "[]", '{"validation": null}', '{"validation": {}}', "7"])
def test_a_result_without_validation_leaves_it_to_the_journal(
    run: RunDirectory, result: str
) -> None:
    run.result.write_text(result)
    with Journal(run.journal) as journal:
        journal.append("trial", trial={"number": 2, "phase": "soak", "verdict": "pass"})
    assert primary_trial_number(run) == 2


def test_before_any_trial_has_ended_it_is_the_one_that_runs(run: RunDirectory) -> None:
    assert primary_trial_number(run) is None
    with Journal(run.journal) as journal:
        journal.append("lab-up")
        journal.append("trial-started", number=1, phase="warmup")
    with run.journal.open("a") as file:
        file.write('{"kind": "trial", "at_unix_ns": 1, "tri')
    assert primary_trial_number(run) == 1
