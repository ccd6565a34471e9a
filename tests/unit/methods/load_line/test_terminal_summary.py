"""What the terminal says where nothing could be tested."""

import io

from rich.console import Console

from plimsoll.methods.load_line.terminal_summary import print_result
from plimsoll.record.results.result import Result, TesterDiagnosis
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.search.strategy.goal_end import GoalEnd
from plimsoll.terminal.tables.stream_table import stream_tables
from tests.unit.record.trial_parts import record


def test_the_box_says_why_and_what_to_do() -> None:
    trials = [record(1, verdict="invalid")]
    result = Result.from_trials(
        trials,
        run_id="r",
        name="n",
        ends=[GoalEnd("load-line", None, "no trial could be tested")],
        criteria={"load-line": []},
        diagnosis=TesterDiagnosis(
            sentences=("CPU 0: java (pid 812) ran there", "1 of 1 was invalid"),
            remedy="stop it",
        ),
    )
    written = io.StringIO()
    print_result(result, trials, Console(file=written, width=100))
    box = written.getvalue()[written.getvalue().index("Load line") :]
    places = [
        box.index(said)
        for said in (
            "could not test: no trial could be tested",
            "CPU 0: java (pid 812) ran there.",
            "1 of 1 was invalid.",
            "What to do: stop it.",
        )
    ]
    assert places == sorted(places)
    assert box.count("no trial could be tested") == 1


def test_frames_that_came_back_longer_are_noted() -> None:
    """Next to the criteria of a load line, and below the frames of a single trial."""
    longer = FindingRecord(
        rule="returned-length",
        subject="load/0-1",
        value=68,
        limit=64,
        unit="bytes",
        outcome="ok",
        text="load/0-1: its frames came back 4 bytes longer",
    )
    trials = [
        record(1, findings=(longer,)),
        record(2, phase="validation", findings=(longer,)),
    ]
    result = Result.from_trials(
        trials,
        run_id="r",
        name="n",
        ends=[GoalEnd("load-line", 1000.0, "found")],
        criteria={"load-line": []},
    )
    written = io.StringIO()
    console = Console(file=written, width=100)
    print_result(result, trials, console)
    assert "note  load/0-1: its frames came back 4 bytes longer" in written.getvalue()
    written.truncate(0)
    console.print(stream_tables(trials[0]))
    assert "came back 4 bytes longer" in written.getvalue()
