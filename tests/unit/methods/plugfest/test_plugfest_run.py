"""Plugfests of simulated DUTs, from the file to the result."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from plimsoll.errors import InputError, Interrupted, PlimsollError
from plimsoll.host.ledger.cpu_claims import CpuTaken
from plimsoll.methods.matrix.plan import begin_matrix, iteration_folder
from plimsoll.methods.matrix.run import SampleHooks
from plimsoll.methods.plugfest import plan as refusals
from plimsoll.methods.plugfest.conclusions import plugfest_result, plugfest_so_far
from plimsoll.methods.plugfest.document import load_plugfest
from plimsoll.methods.plugfest.result import METHOD as PLUGFEST
from plimsoll.methods.plugfest.result import PlugfestResult
from plimsoll.methods.plugfest.run import prospect, run_plugfest
from plimsoll.record.index.run_entry import entry_of
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.schemas import published_schema
from tests.unit.methods.matrix.test_matrix_run import Watching
from tests.unit.methods.plugfest.plugfest_files import ABSENT, FAST, SLOW, write_plugfest
from tests.worded.says import Says

TWO: dict[str, Any] = {"duts": {"fast": FAST, "slow": SLOW}, "seed": 3, "repetitions": 4}


def begin(folder: Path, section: dict[str, Any], **changed: Any) -> RunDirectory:
    found = load_plugfest(write_plugfest(folder, section, **changed))
    return begin_matrix(found.matrix, folder / "runs", PLUGFEST, found.plan.as_settings())


def run_all(
    run: RunDirectory, watching: Watching | None = None, budget_s: float | None = None
) -> PlugfestResult:
    ahead = prospect(run, budget_s)
    return run_plugfest(run, ahead, watching or Watching(), SampleHooks(), plugfest_result)


def test_two_duts_are_held_against_each_other(tmp_path: Path) -> None:
    run = begin(tmp_path, TWO)
    result = run_all(run)
    fast, slow = result.cells
    assert (fast.state, slow.state) == ("measured", "measured")
    line = fast.figure("load line")
    assert line is not None
    assert line.values == (20_000.0,) * 4
    # Four values bound no median.
    assert (line.least, line.most) == (None, None)
    (off,) = (each for each in result.differences if each.figure == "load line")
    assert (off.axis, off.cell, off.baseline) == ("dut", 2, 1)
    assert (off.estimate, off.least, off.most) == (-5000, -5000, -5000)
    assert (off.relative, off.judgement) == (-0.25, "worse")
    assert [each.repetition for each in result.ran] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert (result.verdict, result.error_code) == ("pass", None)


def test_its_record_keeps_to_the_schema_and_is_listed(tmp_path: Path) -> None:
    run = begin(tmp_path, {**TWO, "repetitions": 1})
    result = run_all(run)
    written = json.loads(run.result.read_text())
    assert PlugfestResult.model_validate(written) == result
    Draft202012Validator(json.loads(published_schema("plugfest-result"))).validate(written)
    entry = entry_of(run.run_id, run.path)
    assert entry.state == "finished"
    assert entry.summary is not None
    assert entry.summary.method == "plugfest"
    assert entry.summary.answer is not None
    assert entry.summary.answer.text == "2 of 2 cells of 2 DUTs"


def test_one_repetition_each_cannot_tell(tmp_path: Path) -> None:
    result = run_all(begin(tmp_path, {**TWO, "repetitions": 1}))
    assert {each.judgement for each in result.differences} == {"cannot tell"}


def test_a_refused_cell_is_one_with_its_reason(tmp_path: Path) -> None:
    run = begin(tmp_path, {**TWO, "duts": {**TWO["duts"], "gone": ABSENT}, "repetitions": 1})
    ahead = prospect(run)
    assert ahead.estimate.cells == 2
    ((reason, labels),) = ahead.refusals.items()
    assert "0000:ff:1f.6" in reason
    assert labels == ["gone, p2p, 1 flow, 64 B, quiet, engine"]
    result = run_all(run)
    gone = result.cells[2]
    assert gone.state == "refused"
    assert "0000:ff:1f.6" in (gone.reason or "")
    assert (result.verdict, result.error_code) == ("pass", None)


def test_a_cpu_that_is_taken_for_now_refuses_no_cell_but_nothing_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    taken = CpuTaken("CPU 0 is polled by run-5e6f70", where="generator.cpus[0]", remedy="wait")
    monkeypatch.setattr(refusals, "search_mistakes", lambda _: [taken])
    run = begin(tmp_path, {"duts": {"fast": FAST, "slow": SLOW}})
    ahead = prospect(run)
    assert (ahead.refused, ahead.taken) == ({}, (taken,))
    assert ahead.estimate.cells == 2
    with pytest.raises(CpuTaken) as caught:
        run_all(run)
    assert caught.value == says("0", "run-5e6f70")
    assert read_journal(run.journal).events == ()


def test_where_every_cell_is_refused_nothing_is_begun(tmp_path: Path) -> None:
    run = begin(tmp_path, {"duts": {"gone": ABSENT}})
    with pytest.raises(PlimsollError, match=r"0000:ff:1f\.6"):
        prospect(run)
    assert read_journal(run.journal).events == ()


def test_a_cell_that_ends_with_an_error_does_not_end_the_others(tmp_path: Path) -> None:
    run = begin(tmp_path, TWO)
    ahead = prospect(run)
    # Gone once the run goes on: nobody has looked before.
    shutil.rmtree(iteration_folder(run, 1))
    result = run_plugfest(run, ahead, Watching(), SampleHooks(), plugfest_result)
    fast, slow = result.cells
    assert (fast.state, slow.state) == ("failed", "measured")
    assert fast.reason
    # Tried twice, and no further.
    assert [each.skipped is None for each in fast.samples] == [True, True, False, False]
    assert result.error_code == InputError.exit_code


def test_a_dut_that_carries_nothing_is_a_cell_with_its_reason(tmp_path: Path) -> None:
    model = {"kind": "fixed-capacity", "capacity": "5kpps"}
    weak = {
        "lab": {"kind": "simulated", "model": model},
        "settings": {"search.minimum": "20kpps"},
    }
    result = run_all(begin(tmp_path, {"duts": {"weak": weak, "fast": FAST}, "repetitions": 1}))
    assert result.cells[0].state == "none"
    assert result.cells[0].reason
    assert result.verdict == "fail"


@pytest.mark.slow
def test_the_budget_leaves_out_repetitions_and_more_of_it_brings_them_back(
    tmp_path: Path,
) -> None:
    run = begin(tmp_path, {**TWO, "budget": "1ms"})
    result = run_all(run)
    assert [len([s for s in cell.samples if s.skipped is None]) for cell in result.cells] == [1, 1]
    assert "out of time" in (result.cells[0].samples[1].skipped or "")
    more = run_all(run, budget_s=3600.0)
    assert all(each.skipped is None for each in more.samples)
    assert more.budget_s == 3600.0
    watching = Watching()
    assert run_all(run, watching) == more
    assert watching.trials == 0


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    run = begin(tmp_path, {**TWO, "repetitions": 2})
    with pytest.raises(Interrupted):
        run_all(run, Watching(interrupt_at=5))
    so_far = plugfest_so_far(run)
    assert sum(len(cell.samples) for cell in so_far.cells) == 2
    watching = Watching()
    result = run_all(run, watching)
    assert [each.load_line_pps for each in result.samples] == [20_000, 20_000, 15_000, 15_000]
    # Two of the four were done.
    assert len(watching.announced) == 2


def test_it_does_not_go_on_with_another_kind_of_run(tmp_path: Path, says: Says) -> None:
    found = load_plugfest(write_plugfest(tmp_path, TWO))
    run = begin_matrix(found.matrix, tmp_path / "runs")
    with pytest.raises(InputError) as caught:
        prospect(run)
    assert caught.value == says()
