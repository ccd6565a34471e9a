"""What is drawn of a run while it goes on."""

import io
import random
from collections.abc import Sequence

import pyte
import pytest
from rich.console import Console

from plimsoll.generator.interface import TrialPlan
from plimsoll.record.trials.trial_parts import TrialPhase
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.terminal.commands.running import progress_on
from plimsoll.terminal.tables.live_view import SearchView, sparkline
from tests.unit.report.sample_run import STEPS, intervals, stream_plans, trial_record
from tests.worded.says import Says

SEARCH_STEP = STEPS[4]


def screen_of(written: str, width: int = 80) -> list[str]:
    """What a terminal of another's making shows, without blank lines."""
    screen = pyte.Screen(width, 24)
    stream = pyte.Stream(screen)
    stream.feed(written.replace("\n", "\r\n"))
    return [line.rstrip() for line in screen.display if line.strip()]


def terminal(width: int = 80, **options: bool) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, force_terminal=True, width=width, height=24, **options), file  # type: ignore[arg-type]


def drawn(
    console: Console,
    file: io.StringIO,
    seconds: int,
    *,
    ended: bool = False,
    hold_s: float = 0.0,
) -> str:
    """What was written of a trial until the display is about to be taken away."""
    step = SEARCH_STEP
    plan = TrialPlan(
        5,
        stream_plans(step.load_pps),
        float(step.seconds),
        0.5,
        hold_s=hold_s,
        load_pps=step.load_pps,
    )
    parts = list(intervals(random.Random(1), step, 10**18))  # noqa: S311
    with progress_on(console) as progress:
        progress.trial_started(5, step.phase, plan)
        for interval in parts[:seconds]:
            progress.interval(interval)
        if ended:
            progress.trial_ended(trial_record(step, plan, parts, 10**18, 5))
        return file.getvalue()


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█"),
        ([5, 5, 5], "███     "),
        ([0, 0], "▁▁      "),
        ([None, 7, None], " █      "),
        ([], "        "),
        (list(range(100)), "▇▇▇▇▇▇▇█"),
    ],
)
def test_a_series_is_drawn_from_zero(values: Sequence[float | None], line: str) -> None:
    drawn_line = sparkline(values, 8)
    assert len(drawn_line) == 8
    if values != list(range(100)):
        assert drawn_line == line
    else:
        assert set(drawn_line) <= {"▇", "█"}


def test_a_terminal_without_unicode_gets_ascii() -> None:
    assert sparkline([0, 7, 3.5], 4, ascii_only=True).isascii()


@pytest.mark.parametrize(
    ("trials", "line"),
    [
        ([], None),
        ([("warmup", 1e6, "none")], None),
        ([("search", 4e6, "fail")], "bracket: none passed, 4 Mpps failed"),
        ([("search", 2e6, "pass")], "bracket: 2 Mpps passed, none failed"),
        (
            [("search", 4e6, "fail"), ("search", 2e6, "pass"), ("search", 3e6, "invalid")],
            "bracket: 2 Mpps passed, 4 Mpps failed, 50 % apart",
        ),
        (
            [("search", 2e6, "pass"), ("search", 3e6, "pass"), ("validation", 3e6, "fail")],
            "bracket: 2 Mpps passed, 3 Mpps failed, 33.33 % apart",
        ),
        (
            # A lower load that failed once does not bound the one that passed above it.
            [("search", 1e6, "fail"), ("search", 2e6, "pass")],
            "bracket: 2 Mpps passed, none failed",
        ),
    ],
)
def test_the_bracket_closes_with_each_trial(
    trials: Sequence[tuple[TrialPhase, float, Verdict]], line: str | None
) -> None:
    search = SearchView()
    for phase, load_pps, verdict in trials:
        search.take(phase, load_pps, verdict)
    found = search.line()
    assert (None if found is None else found.plain.strip()) == line


def test_a_trial_is_drawn_with_its_series_as_its_seconds_end() -> None:
    console, file = terminal()
    written = drawn(console, file, 3)
    lines = screen_of(written)
    assert lines[0].startswith("  5  search        2.25 Mpps  ━")
    assert lines[0].endswith("2s left")
    names = [line.split()[0] for line in lines[1:6]]
    assert names == ["rate", "loss", "p50", "p99", "max"]
    # The load streams are of 2.249 Mpps, which leaves room for the probe, and of 2.25 Mpps.
    assert lines[1].split()[1:] == ["███", "2.249", "Mpps"]
    assert lines[2].split()[1:] == ["▁▁▁", "0", "%"]
    assert lines[-1].strip().startswith("0 trials in ")


def test_a_finished_trial_leaves_one_line() -> None:
    console, file = terminal()
    drawn(console, file, 5, ended=True)
    left = screen_of(file.getvalue())
    assert len([line for line in left if line.startswith("  5  search")]) == 1
    assert left[0].startswith("  5  search        2.25 Mpps  PASS")
    assert not [line for line in left if "rate" in line.split()[:1]]


def test_a_silent_trial_draws_nothing_until_it_ends(says: Says) -> None:
    console, file = terminal()
    written = drawn(console, file, 0, hold_s=60.0)
    assert screen_of(written)[0] == says("5s")


def test_on_no_terminal_there_are_finished_trials_alone() -> None:
    file = io.StringIO()
    drawn(Console(file=file, width=200), file, 5, ended=True)
    (line,) = file.getvalue().splitlines()
    assert line.startswith("  5  search        2.25 Mpps  PASS")
    assert "\x1b" not in line


def test_a_narrow_terminal_folds_nothing() -> None:
    console, file = terminal(width=40)
    written = drawn(console, file, 3)
    lines = screen_of(written, 40)
    assert [line.split()[0] for line in lines[1:6]] == ["rate", "loss", "p50", "p99", "max"]


def test_without_colour_no_colour_is_sent() -> None:
    console, file = terminal(no_color=True)
    written = drawn(console, file, 3)
    assert "\x1b[32m" not in written
    assert "\x1b[36m" not in written
    coloured, other = terminal()
    written = drawn(coloured, other, 3)
    assert "\x1b[32m" in written
