"""Text of a run from elsewhere neither drives a terminal nor stands raw in a page."""

import io
from pathlib import Path

from rich.table import Table
from rich.text import Text

from plimsoll.methods.load_line.terminal_summary import print_result
from plimsoll.record.results.result import Result
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.report import write_report
from plimsoll.search.strategy.goal_end import GoalEnd
from plimsoll.terminal.output import EdgelessConsole, PlainConsole
from tests.unit.record.trial_parts import record
from tests.unit.report.sample_run import write_sample_run

# Clears the screen, sets the title, and turns the direction of writing.
HOSTILE = "ok\x1b[2J\x1b]0;owned\x07\u202e\x9b31m"


def printed(*what: object, console: type[PlainConsole] = PlainConsole) -> str:
    file = io.StringIO()
    console(file=file, width=200).print(*what)
    return file.getvalue()


def test_controls_are_written_out_wherever_the_text_stands() -> None:
    table = Table("head")
    table.add_row(HOSTILE)
    for what in (HOSTILE, Text(HOSTILE), table):
        said = printed(what)
        assert not set(said) & {"\x1b", "\x07", "\x9b", "\u202e"}
        assert "\\x1b[2J" in said


def test_styles_lines_and_blanks_of_any_width_stay() -> None:
    file = io.StringIO()
    console = PlainConsole(file=file, width=80, force_terminal=True, color_system="standard")
    console.print(Text("a\nb\u202fc\xa0d", "bold"))
    assert "\x1b[1m" in file.getvalue()
    assert "b\u202fc\xa0d" in file.getvalue()


def test_findings_of_a_hostile_run_are_shown_as_text() -> None:
    finding = FindingRecord(
        rule="loss", subject="s", value=0.0, limit=1.0, unit="1", outcome="ok", text=HOSTILE
    )
    trial = record(1, phase="validation", load_pps=5.0).model_copy(update={"findings": (finding,)})
    result = Result.from_trials(
        (trial,),
        run_id="r",
        name="n",
        ends=[GoalEnd("load-line", 5.0, "")],
        criteria={"load-line": [{"kind": "loss"}]},
    )
    file = io.StringIO()
    print_result(result, [trial], EdgelessConsole(file=file))
    assert "\x1b" not in file.getvalue()


def test_a_page_holds_no_control_character(tmp_path: Path) -> None:
    run = write_sample_run(tmp_path, name=HOSTILE)
    data = write_report(run).read_bytes()
    assert b"\x1b[2J" not in data.split(b"<script", 1)[0]
    assert b"\\x1b[2J" in data
