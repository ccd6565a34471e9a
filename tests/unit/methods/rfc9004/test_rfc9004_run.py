"""RFC 9004 against a simulated DUT with a buffer of 4096 frames."""

from pathlib import Path

import pytest

from plimsoll.errors import Interrupted
from plimsoll.methods.rfc2544.settings import BurstSettings
from plimsoll.methods.rfc9004.page import rfc9004_answer, run_page
from plimsoll.methods.rfc9004.run import run_rfc9004
from plimsoll.methods.rfc9004.settings import Rfc9004Settings
from plimsoll.record.run.journal import read_journal
from tests.unit.benchmark.simulated_tests import (
    BUFFER_FRAMES,
    LINE_64_PPS,
    Seen,
    experiment,
    run_directory,
)
from tests.worded.says import Says

SETTINGS = Rfc9004Settings.quickly().model_copy(
    update={"bursts": BurstSettings(limit_s=0.02, granularity=0.1, repeats=2, verifications=1)}
)


def test_the_corrected_buffer_is_the_simulated_one(tmp_path: Path, says: Says) -> None:
    plan = experiment()
    settings = SETTINGS.model_copy(update={"sizes": (64, 1518)})
    run = run_directory(tmp_path, plan)
    result = run_rfc9004(plan, settings, run, Seen())
    small, large = result.rows
    assert small.corrected_s is not None
    # Bursts are known to a tenth, downwards.
    assert 0.88 * BUFFER_FRAMES <= small.corrected_s * LINE_64_PPS <= 1.01 * BUFFER_FRAMES
    assert small.valid
    assert (large.bursts, large.valid) == (None, False)
    assert large.reason == says()
    assert result.repetitions == 2
    answer = rfc9004_answer(run)
    assert answer.heading == says()
    assert [section.title for section in answer.sections] == [
        says("Back-to-back", "frames"),
        "Back-to-back frames",
        "Throughput",
    ]
    assert run_page(run).template == "standard.html.j2"


@pytest.mark.slow
def test_a_killed_run_goes_on_in_the_midst_of_a_search(tmp_path: Path) -> None:
    plan = experiment()
    settings = SETTINGS.model_copy(update={"sizes": (64,)})
    run = run_directory(tmp_path, plan)
    with pytest.raises(Interrupted):
        run_rfc9004(plan, settings, run, Seen(most=12))
    assert rfc9004_answer(run).sections == ()
    rest = Seen()
    result = run_rfc9004(plan, settings, run, rest)
    trials = read_journal(run.journal).trials()
    assert [trial.number for trial in rest.trials] == [trial.number for trial in trials[12:]]
    assert len({(trial.step, trial.attempt) for trial in trials}) == len(trials)
    assert result.rows[0].valid
