"""What the terminal says where nothing could be tested."""

import io

from rich.console import Console

from plimsoll.cli.tables.result_summary import print_result
from plimsoll.record.results.goal_end import GoalEnd
from plimsoll.record.results.result import Result
from plimsoll.record.results.tester_diagnosis import TesterDiagnosis
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
