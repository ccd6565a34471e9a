"""`plimsoll watch`: a run followed from another terminal."""

import json
import random
import sys
import time
from pathlib import Path

import pexpect
import pyte

from plimsoll.generator.interface import TrialPlan
from plimsoll.record.recorder import recording
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.cli.runs_command import Plimsoll
from tests.unit.report.sample_run import (
    EXPERIMENT,
    STEPS,
    intervals,
    run_step,
    stream_plans,
    write_sample_run,
)
from tests.worded.says import Says

ROOT = Path("runs")
DEADLINE_S = 60


def test_of_a_finished_run_each_trial_is_a_line(plimsoll: Plimsoll, says: Says) -> None:
    write_sample_run(ROOT)
    assert plimsoll("watch") == 0
    lines = plimsoll.out.splitlines()
    assert len(lines) == 15
    assert lines[3].startswith("  4  search           4 Mpps  FAIL")
    assert lines[13].startswith(" 14  validation   2.742 Mpps  PASS")
    assert lines[14] == says("2.742", "Mpps")
    assert "\x1b" not in plimsoll.out


def test_as_json_each_trial_is_an_object(plimsoll: Plimsoll) -> None:
    write_sample_run(ROOT)
    assert plimsoll("watch", "last", "--json") == 0
    trials = [json.loads(line) for line in plimsoll.out.splitlines()]
    assert [trial["trial"] for trial in trials] == list(range(1, 15))
    assert trials[3]["verdict"] == "fail"
    assert trials[3]["load_pps"] == 4_000_000
    assert trials[3]["reasons"]


def test_a_run_that_no_one_goes_on_with_is_said_to_be_stopped(plimsoll: Plimsoll) -> None:
    write_sample_run(ROOT, steps=STEPS[:5], finished=False)
    assert plimsoll("watch") == 0
    assert plimsoll.out.splitlines()[-1].startswith("stopped: ")


class Terminal:
    """`plimsoll watch` on a pty of 80 columns, drawn by pyte."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self.screen)
        words = ["-m", "plimsoll.cli", "watch", "--runs", str(folder), *options]
        self.child = pexpect.spawn(
            sys.executable, words, dimensions=(24, 80), timeout=1, env={"TERM": "xterm-256color"}
        )
        self.raw = b""

    def wait_for(self, text: str) -> list[str]:
        """The screen's lines as soon as the text is on it."""
        until = time.monotonic() + DEADLINE_S
        while time.monotonic() < until:
            lines = [line.rstrip() for line in self.screen.display]
            if text in "\n".join(lines):
                return lines
            try:
                found = self.child.read_nonblocking(65536, timeout=0.2)
            except pexpect.TIMEOUT:
                continue
            self.raw += found
            self._stream.feed(found)
        raise AssertionError(f"no {text!r} on\n" + "\n".join(self.screen.display))


def test_a_run_is_followed_as_it_goes_on_and_to_its_end(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", EXPERIMENT)
    rng = random.Random(1)  # noqa: S311
    step = STEPS[4]
    with recording(run) as recorder:
        recorder.event("run-started", method="load-line")
        for earlier in STEPS[3:4]:
            run_step(recorder, rng, earlier, time.time_ns())
        terminal = Terminal(tmp_path)
        plan = TrialPlan(2, stream_plans(step.load_pps), 60.0, 0.5, load_pps=step.load_pps)
        with recorder.trial(
            plan, number=2, phase="search", attempt=1, refused_is_lost=True
        ) as trial:
            for interval in list(intervals(rng, step, time.time_ns()))[:3]:
                trial.interval(interval)
            lines = terminal.wait_for("p99 ")
        assert any(line.startswith("  1  search           4 Mpps  FAIL") for line in lines)
        assert any(line.startswith("  2  search        2.25 Mpps  ") for line in lines)
        rate = next(line for line in lines if line.strip().startswith("rate"))
        assert "2.25 Mpps" in rate
        terminal.wait_for("bracket: none passed, 4 Mpps failed")
    # Nobody holds the lock any more.
    lines = terminal.wait_for("stopped: ")
    assert not any(line.strip().startswith("rate") for line in lines)
    terminal.child.expect(pexpect.EOF, timeout=DEADLINE_S)
    terminal.child.close()
    assert terminal.child.exitstatus == 0


def test_it_may_be_ended_at_any_time(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", EXPERIMENT)
    with recording(run) as recorder:
        recorder.event("run-started", method="load-line")
        run_step(recorder, random.Random(1), STEPS[3], time.time_ns())  # noqa: S311
        terminal = Terminal(tmp_path)
        terminal.wait_for("bracket: ")
        terminal.child.sendintr()
        terminal.child.expect(pexpect.EOF, timeout=DEADLINE_S)
        terminal.child.close()
        assert terminal.child.exitstatus == 0
