"""SIGKILL to each process in turn: finished trials stay, nothing else does, the run continues."""

import os
import signal
import subprocess

import pytest

from tests.integration.command import (
    Workplace,
    assert_goes_on,
    assert_nothing_is_left,
    finished_trials,
    hugepages,
    journal,
    until,
)
from tests.integration.unspoilt import refuse_repeated, unspoilt

pytestmark = pytest.mark.alone


def start_and_wait_for_a_search_trial(place: Workplace) -> subprocess.Popen[str]:
    process = place.start("run", place.experiment(), "--runs", place.runs)

    def searching() -> bool:
        assert_goes_on(process)
        trials = (event["trial"] for event in place.journal_so_far() if event["kind"] == "trial")
        return any(each["phase"] == "search" for each in trials)

    until(searching, "the first search trial")
    return process


def assert_resumes(place: Workplace, kept: list[dict[str, object]]) -> None:
    run = place.only_run()
    resumed = unspoilt(place, "run", "--resume", run, "--json")
    assert resumed.returncode == 0, resumed.stderr
    refuse_repeated(run)
    trials = finished_trials(run)
    assert trials[: len(kept)] == kept
    numbers = [trial["number"] for trial in trials]
    assert numbers == sorted(set(numbers))
    searched = [each["load_pps"] for each in trials if each["phase"] == "search"]
    assert searched == [2000, 8000]
    assert trials[-1]["phase"] == "validation"
    assert trials[-1]["verdict"] == "pass"


def test_plimsoll_itself(place: Workplace) -> None:
    before = hugepages()
    process = start_and_wait_for_a_search_trial(place)
    process.kill()
    process.communicate()
    kept = finished_trials(place.only_run())
    assert_nothing_is_left(place, before)
    assert_resumes(place, kept)
    assert_nothing_is_left(place, before)


# The tester could not tell; a DUT that dies has failed.
TESTER_DIED, DUT_DIED = 5, 1
EACH_PROCESS = pytest.mark.parametrize(
    ("name", "code"), [("plimsoll-engine", TESTER_DIED), ("dpdk-testpmd", DUT_DIED)]
)


@pytest.mark.slow
def test_the_engine(place: Workplace) -> None:
    kill_a_process(place, "plimsoll-engine", TESTER_DIED)


@pytest.mark.full
@EACH_PROCESS
def test_a_run_goes_on_after_a_process_was_killed(place: Workplace, name: str, code: int) -> None:
    kill_a_process(place, name, code)
    assert_resumes(place, finished_trials(place.only_run()))


def kill_a_process(place: Workplace, name: str, code: int) -> None:
    """SIGKILL a process of a run: the run ends, says so, and leaves nothing but its record."""
    before = hugepages()
    process = start_and_wait_for_a_search_trial(place)
    # setpriv turns into the program; the janitor is another process.
    (victim, *_) = place.processes(name[:15])
    os.kill(victim, signal.SIGKILL)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == code
    said = f"{name} (pid"
    assert said in stderr
    assert "SIGKILL" in stderr
    run = place.only_run()
    died = [event for event in journal(run) if event["kind"] == "died"]
    assert said in str(died)
    assert_nothing_is_left(place, before)


@pytest.mark.full
def test_plimsoll_and_its_janitor(place: Workplace) -> None:
    """None is left to clean up, so the next command does. Labs prove it in seconds."""
    before = hugepages()
    process = start_and_wait_for_a_search_trial(place)
    (ledger,) = list(place.state.iterdir())
    janitors = [
        int(entry)
        for entry in os.listdir("/proc")
        if entry.isdigit() and str(ledger).encode() in _command_line(entry)
    ]
    assert len(janitors) == 1
    os.kill(janitors[0], signal.SIGKILL)
    process.kill()
    process.communicate()
    listed = place.run("lab", "list")
    assert listed.returncode == 0, listed.stderr
    assert_nothing_is_left(place, before)


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_goes_on_after_a_polite_end(place: Workplace, number: signal.Signals) -> None:
    end_politely(place, number)
    assert_resumes(place, finished_trials(place.only_run()))


def end_politely(place: Workplace, number: signal.Signals) -> None:
    before = hugepages()
    process = start_and_wait_for_a_search_trial(place)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "--resume" in stderr
    assert journal(place.only_run())[-1]["kind"] == "interrupted"
    assert_nothing_is_left(place, before)


def _command_line(pid: str) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            line = file.read()
    except OSError:
        return b""
    return line if b"plimsoll.host.ledger.janitor" in line else b""
