"""Trials on the terminal: the load that was intended, and what was offered of it."""

from rich.console import Console

from plimsoll.terminal.tables.trial_table import reason_of, trial_table
from tests.unit.record.results.test_result import carrying
from tests.worded.says import Says


def test_the_offered_load_is_next_to_the_intended_one(says: Says) -> None:
    proof = carrying(((0, 1), "load", 64, 1000.0))
    (stream,) = proof.streams
    short = proof.model_copy(update={"streams": (stream.model_copy(update={"received": 1960}),)})
    console = Console(width=160, record=True, file=None)
    with console.capture() as shown:
        console.print(trial_table([short]))
    heading, *_ = (line for line in shown.get().splitlines() if "intended" in line)
    assert heading.index("intended") < heading.index("offered")
    (row,) = (line for line in shown.get().splitlines() if "1 kpps" in line)
    assert row.index("1 kpps") < row.index("980 pps")
    assert reason_of(short) == says("980", "pps", "0")


def test_a_trial_of_probes_alone_offered_no_load() -> None:
    proof = carrying(((0, 1), "latency", 64, 1000.0)).model_copy(update={"load_pps": 0.0})
    assert reason_of(proof).startswith("loss 0 %")
