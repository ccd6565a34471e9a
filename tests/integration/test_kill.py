"""Whoever ends a run: finished trials stay, nothing else does, and the run goes on."""

import json
import os
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import (
    Workplace,
    assert_keeps_to_schema,
    assert_nothing_is_left,
    finished_trials,
    hugepages,
    journal,
    until,
)

RATES_PPS = list(range(1000, 7000, 500))
# One trial a load, so that a run has many to be ended between.
SEARCH: dict[str, Any] = {
    "strategy": "checkpoints",
    "minimum": "1kpps",
    "maximum": "8kpps",
    "rates": [f"{rate}pps" for rate in RATES_PPS],
    "duration": "500ms",
    "validation": {"duration": "1s"},
}


def search_trials(run: Path) -> list[dict[str, Any]]:
    return [each for each in finished_trials(run) if each["phase"] == "search"]


def after_another_trial(place: Workplace, *words: object) -> subprocess.Popen[str]:
    """A session that goes on or begins, once it has finished a trial of the search."""
    known = len(search_trials(place.only_run())) if place.runs.exists() else 0
    process = place.start(*words)

    def searched() -> bool:
        assert process.poll() is None, process.communicate()
        return place.runs.exists() and len(search_trials(place.only_run())) > known

    until(searched, "another search trial")
    return process


def ended(place: Workplace, process: subprocess.Popen[str], hugepages_before: int) -> str:
    """What a command said until it ended, of which nothing is left but a run without a result."""
    _, said = process.communicate(timeout=120)
    assert_nothing_is_left(place, hugepages_before)
    assert not (place.only_run() / "result.json").exists()
    return said


def test_a_run_goes_on_whatever_of_it_is_killed(place: Workplace) -> None:
    """The command, the engine, testpmd, and the command politely; then it is left alone."""
    before = hugepages()
    experiment = place.experiment(
        search=SEARCH, criteria=[{"kind": "loss-ratio", "at_most": "50%"}]
    )
    kept: list[list[dict[str, Any]]] = []

    command = after_another_trial(place, "run", experiment, "--runs", place.runs)
    run = place.only_run()
    command.kill()
    ended(place, command, before)
    kept.append(finished_trials(run))

    # The tester could not tell; a DUT that dies has failed.
    for program, code in (("plimsoll-engine", 5), ("dpdk-testpmd", 1)):
        command = after_another_trial(place, "run", "--resume", run)
        # setpriv turns into the program; the janitor is another process.
        (victim, *_) = place.processes(program[:15])
        os.kill(victim, signal.SIGKILL)
        said = ended(place, command, before)
        assert command.returncode == code, said
        assert f"{program} (pid {victim}) " in said
        assert "SIGKILL" in said
        died = [event for event in journal(run) if event["kind"] == "died"]
        assert f"{program} (pid {victim})" in died[-1]["what"]
        kept.append(finished_trials(run))

    command = after_another_trial(place, "run", "--resume", run)
    command.send_signal(signal.SIGINT)
    said = ended(place, command, before)
    assert command.returncode == 130, said
    assert "--resume" in said
    assert journal(run)[-1]["kind"] == "interrupted"
    kept.append(finished_trials(run))

    finished = place.run("run", "--resume", run)
    assert finished.returncode == 0, finished.stderr
    assert_nothing_is_left(place, before)
    assert_whole(place, kept)


def assert_whole(place: Workplace, kept: list[list[dict[str, Any]]]) -> None:
    """The run has each trial once, with what sessions before had `kept`, and its result."""
    run = place.only_run()
    trials = finished_trials(run)
    for session in kept:
        assert trials[: len(session)] == session
    resumed = [event["trials"] for event in journal(run) if event["kind"] == "run-resumed"]
    assert resumed == [len(session) for session in kept]
    numbers = [trial["number"] for trial in trials]
    assert numbers == sorted(set(numbers))
    assert [each["load_pps"] for each in search_trials(run)] == RATES_PPS
    # The tester is measured once; what the DUT learned in a warm-up died with it.
    phases = Counter(trial["phase"] for trial in trials)
    assert (phases["calibration"], phases["warmup"]) == (2, 1 + len(kept))
    result = json.loads((run / "result.json").read_text())
    assert_keeps_to_schema(result, "result")
    assert result["load_line"]["intended_pps_per_direction"] == RATES_PPS[-1]
    assert result["trials"]["by_phase"] == phases
    assert (trials[-1]["phase"], trials[-1]["verdict"]) == ("validation", "pass")


def test_what_a_killed_command_and_janitor_leave_goes_with_the_next_command(
    place: Workplace,
) -> None:
    before = hugepages()
    command = place.start("run", place.experiment(), "--runs", place.runs)
    until(lambda: bool(place.processes("plimsoll-engine")), "the engine")
    (ledger,) = list(place.state.iterdir())
    janitors = [
        int(entry)
        for entry in os.listdir("/proc")
        if entry.isdigit() and str(ledger).encode() in _command_line(entry)
    ]
    assert len(janitors) == 1
    os.kill(janitors[0], signal.SIGKILL)
    command.kill()
    command.communicate()
    assert place.processes("dpdk-testpmd")
    listed = place.run("lab", "list")
    assert listed.returncode == 0, listed.stderr
    assert_nothing_is_left(place, before)


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.full)]
)
def test_other_polite_ends_are_clean_too(place: Workplace, number: signal.Signals) -> None:
    before = hugepages()
    experiment = place.experiment(lab={"kind": "loopback"})
    words = ("trial", experiment, "--load", "1kpps", "--duration", "10m", "--runs", place.runs)
    with place.start(*words) as command:
        until(lambda: lab_is_up(place), "the lab")
        command.send_signal(number)
        _, said = command.communicate(timeout=120)
    assert command.returncode == 130, said
    assert journal(place.only_run())[-1]["kind"] == "interrupted"
    assert_nothing_is_left(place, before)


def lab_is_up(place: Workplace) -> bool:
    return place.runs.exists() and any(
        event["kind"] == "lab-up" for event in journal(place.only_run())
    )


def _command_line(pid: str) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            line = file.read()
    except OSError:
        return b""
    return line if b"plimsoll.host.ledger.janitor" in line else b""
