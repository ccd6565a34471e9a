"""The pause and the command before a trial."""

import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.benchmark.experiment.trial_settings import BeforeTrial, TrialSettings
from plimsoll.benchmark.trial_run.pre_trial import (
    check_command,
    pause_between_trials,
    run_before_trial,
)
from plimsoll.errors import MachineError
from plimsoll.host.processes.identity import identify, wait_for_end
from tests.this_thread import in_this_thread
from tests.worded.says import Says

TELLS = """
import os, sys
from pathlib import Path
names = ("TRIAL", "PHASE", "LOAD_PPS", "DURATION_S")
Path(sys.argv[1]).write_text(" ".join(os.environ["PLIMSOLL_" + name] for name in names))
"""
LEAVES_A_CHILD = """
import subprocess, sys, time
from pathlib import Path
Path(sys.argv[1]).write_text(str(subprocess.Popen(["sleep", "600"]).pid))
time.sleep(600)
"""


def _run(directory: Path, *command: str, **settings: Any) -> None:
    before = BeforeTrial(command=command, **settings)
    run_before_trial(
        TrialSettings(before=before),
        directory,
        number=7,
        phase="search",
        load_pps=1_250_000.5,
        duration_s=30.0,
    )


def _refused(directory: Path, *command: str, **settings: Any) -> MachineError:
    with pytest.raises(MachineError) as caught:
        _run(directory, *command, **settings)
    assert caught.value.where == "trial.before"
    assert caught.value.remedy
    return caught.value


def test_the_command_learns_what_is_to_come(tmp_path: Path) -> None:
    _run(tmp_path, sys.executable, "-c", TELLS, str(tmp_path / "seen"))
    assert (tmp_path / "seen").read_text() == "7 search 1250000.5 30"


def test_its_words_are_no_shells(tmp_path: Path) -> None:
    odd = "$HOME; `ls` > x"
    _run(tmp_path, sys.executable, "-c", TELLS, str(tmp_path / odd))
    assert (tmp_path / odd).exists()


def test_without_a_command_nothing_is_run(tmp_path: Path) -> None:
    run_before_trial(
        TrialSettings(), tmp_path, number=1, phase="warmup", load_pps=1.0, duration_s=1.0
    )
    assert list(tmp_path.iterdir()) == []


def test_a_failing_command_is_named_with_what_it_said(tmp_path: Path, says: Says) -> None:
    fails = "import sys; print('no route to dut'); sys.exit(4)"
    error = _refused(tmp_path, sys.executable, "-c", fails)
    assert error == says(str(sys.executable), "-c")
    assert "exited with status 4\n  no route to dut" in error.message


def test_what_an_earlier_command_said_is_not_reported_again(tmp_path: Path) -> None:
    _run(tmp_path, sys.executable, "-c", "print('all well')")
    error = _refused(tmp_path, sys.executable, "-c", "import sys; sys.exit(1)")
    assert "all well" not in error.message


def test_a_command_that_does_not_end_is_killed_with_all_it_started(
    tmp_path: Path, says: Says
) -> None:
    """It is given more time until its child's pid is on disk, however slow the machine is."""
    left = tmp_path / "pid"
    words = (sys.executable, "-c", LEAVES_A_CHILD, str(left))
    for timeout_s in (1, 10, 60):
        error = _refused(tmp_path, *words, timeout=timeout_s)
        assert error == says(f"{timeout_s}s")
        if left.exists():
            break
    # It may be gone already.
    with suppress(ProcessLookupError):
        assert wait_for_end(identify(int(left.read_text())), 60)


def test_a_program_that_is_missing_is_reported_before_anything_runs(says: Says) -> None:
    with pytest.raises(MachineError) as caught:
        check_command(TrialSettings(before=BeforeTrial(command=("no-such-program", "x"))))
    assert caught.value == says("no-such-program")
    check_command(TrialSettings(before=BeforeTrial(command=("true",))))
    check_command(TrialSettings())


def test_a_command_may_stand_alone() -> None:
    settings = TrialSettings.model_validate({"before": ["ssh", "dut", "true"]})
    assert settings.before == BeforeTrial(command=("ssh", "dut", "true"), timeout=60)
    again = TrialSettings.model_validate(settings.model_dump(mode="json"))
    assert again == settings


@pytest.mark.parametrize(
    ("before", "facts"),
    [
        ("flush --all", ("flush --all",)),
        ([], ()),
        ([1], ("[1]",)),
        (["", "x"], ()),
        (["a\0b"], ("a\\x00b",)),
    ],
)
def test_what_is_no_list_of_words_is_refused(
    before: object, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(ValidationError) as caught:
        TrialSettings.model_validate({"before": before})
    (mistake,) = caught.value.errors()
    assert mistake["msg"] == says(*facts)
    assert mistake["ctx"]["remedy"] == says("[ssh, dut, ovs-appctl, fdb/flush]")


def test_the_pause_is_between_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", in_this_thread(time.sleep, slept.append))
    for number in (1, 2):
        pause_between_trials(TrialSettings(gap=3.5), number)
        pause_between_trials(TrialSettings(), number)
    assert slept == [3.5]
