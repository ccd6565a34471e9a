from dataclasses import dataclass
from pathlib import Path

import pytest

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.recorder import recording
from plimsoll.record.results.load_line import LoadLine
from plimsoll.record.results.result import Result, read_result
from plimsoll.record.run.journal import Journal, read_journal
from plimsoll.record.run.result_file import RunEnd, check_result, finish_run, reopen_run
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.stream_record import FrameSizeRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.search.strategy.goal_end import GoalEnd
from tests.unit.record.trial_parts import record
from tests.worded.says import Says


@dataclass(frozen=True)
class Spoiled:
    rule: str
    subject: str = "cpu 5"
    value: float = 61e6
    limit: float = 50e6
    unit: str = "ns"
    outcome: str = "invalid"

    @property
    def text(self) -> str:
        return f"{self.rule} on {self.subject}"


TRIALS = (
    record(1, phase="warmup", verdict="none"),
    record(2, load_pps=4000.0, verdict="fail"),
    record(3, load_pps=2000.0, verdict="invalid", findings=(Spoiled("stall"), Spoiled("stall"))),
    record(4, load_pps=2000.0, verdict="invalid", findings=(Spoiled("stall"), Spoiled("link"))),
    record(5, load_pps=2000.0),
    record(6, phase="validation", load_pps=2000.0),
)


def kept_up(trial: TrialRecord) -> TrialRecord:
    """The same, offered all that was planned, and nothing lost: in two seconds."""
    streams = tuple(
        each.model_copy(
            update={"received": round(2 * (each.planned_pps or 0)), "lost": 0, "duplicate": 0}
        )
        for each in trial.streams
    )
    return trial.model_copy(update={"streams": streams})


def result(trials: tuple[TrialRecord, ...], load_line_pps: float | None) -> Result:
    return Result.from_trials(
        trials,
        run_id="r",
        name="demo",
        ends=[GoalEnd("load-line", load_line_pps, "no load passed", "dut")],
        criteria={"load-line": [{"kind": "loss-ratio", "at_most": 2e-5}]},
        line_rate_bps=1e9,
    )


def test_the_load_line_and_its_bits() -> None:
    line = result((*TRIALS[:5], kept_up(TRIALS[5])), 2000.0).load_line
    assert line is not None
    assert (line.pps_per_direction, line.total_pps, line.directions) == (2000.0, 4000.0, 2)
    # Load frames of 64 B: 84 B on the wire, 60 B on layer 2; the probe's 128 B do not count.
    assert line.l1_bps_per_direction == 2000 * 84 * 8
    assert line.l2_bps_per_direction == 2000 * 60 * 8
    assert line.percent_of_line_rate == pytest.approx(0.1344)
    assert line.frame_sizes == (64,)


def carrying(*streams: tuple[tuple[int, int], str, int, float | None]) -> TrialRecord:
    """A validation at 1000 pps whose streams have this path, role, frame size and planned rate."""
    proof = record(1, phase="validation")
    planned = proof.model_copy(
        update={
            "streams": tuple(
                proof.streams[0].model_copy(
                    update={
                        "tx_port": tx_port,
                        "rx_port": rx_port,
                        "role": role,
                        "frame_sizes": (FrameSizeRecord(size=frame_size, weight=1),),
                        "mean_frame_size": frame_size,
                        "planned_pps": planned_pps,
                    }
                )
                for (tx_port, rx_port), role, frame_size, planned_pps in streams
            )
        }
    )
    return kept_up(planned)


def test_directions_that_differ_are_summed_each_by_its_own_streams() -> None:
    proof = carrying(
        ((0, 1), "load", 64, 750.0),
        ((0, 1), "load", 1518, 250.0),
        ((1, 0), "load", 512, 600.0),
        ((1, 0), "latency", 9000, 900.0),
    )
    line = LoadLine.of(proof, 1e8)
    assert (line.pps_per_direction, line.total_pps, line.directions) == (1000.0, 1600.0, 2)
    assert line.frame_sizes == (64, 512, 1518)
    # 750 * 84 B + 250 * 1538 B; the other direction's 600 * 532 B is less.
    assert line.l1_bps_per_direction == 447_500 * 8
    # 750 * 60 B + 250 * 1514 B.
    assert line.l2_bps_per_direction == 423_500 * 8
    assert line.percent_of_line_rate == pytest.approx(3.58)


def test_the_direction_of_most_bits_need_not_be_that_of_most_frames() -> None:
    line = LoadLine.of(carrying(((0, 1), "load", 64, 1000.0), ((1, 0), "load", 1518, 100.0)), None)
    assert line.l1_bps_per_direction == 100 * 1538 * 8
    assert line.percent_of_line_rate is None


def test_a_probe_next_to_the_load_leaves_its_bits_exact() -> None:
    line = LoadLine.of(
        carrying(((0, 1), "load", 64, 8000.0), ((0, 1), "latency", 64, 1000.0)), None
    )
    assert (line.l1_bps_per_direction, line.l2_bps_per_direction) == (5_376_000.0, 3_840_000.0)


def test_a_probe_taken_from_the_load_is_a_part_of_it() -> None:
    # A load of 1000 pps each way, 100 pps of which are probes one way: 900 + 100 and 1000.
    planned = carrying(
        ((0, 1), "load", 64, 900.0), ((1, 0), "load", 64, 1000.0), ((0, 1), "latency", 128, 100.0)
    )
    there, back, probe = planned.streams
    streams = (
        there.model_copy(update={"name": "load/0-1"}),
        back.model_copy(update={"name": "load/1-0"}),
        probe.model_copy(update={"name": "probe/0-1", "taken_from": "load/0-1"}),
    )
    line = LoadLine.of(planned.model_copy(update={"streams": streams}), 1e7)
    assert (line.pps_per_direction, line.total_pps, line.directions) == (1000.0, 2000.0, 2)
    # 900 frames of 84 B and 100 of 148 B on the wire are more than 1000 of 84 B.
    assert line.l1_bps_per_direction == 90_400 * 8
    # Without FCS 900 of 60 B and 100 of 124 B.
    assert line.l2_bps_per_direction == 66_400 * 8
    assert line.percent_of_line_rate == pytest.approx(7.232)
    assert line.frame_sizes == (64,)


def test_a_stream_as_fast_as_the_port_takes_it_is_no_part_of_the_load(says: Says) -> None:
    line = LoadLine.of(carrying(((0, 1), "load", 64, 8000.0), ((1, 0), "load", 128, None)), None)
    assert (line.total_pps, line.directions, line.frame_sizes) == (8000.0, 1, (64,))
    with pytest.raises(ValueError) as caught:
        LoadLine.of(carrying(((0, 1), "load", 64, None)), None)
    assert caught.value == says("load")


def test_without_load_streams_there_is_no_load_line(says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        LoadLine.of(carrying(((0, 1), "latency", 64, 1000.0)), None)
    assert caught.value == says()


def test_the_load_line_is_what_was_offered() -> None:
    # Planned were 2 x 1000 frames of each; the second direction was offered 30 frames less.
    planned = carrying(((0, 1), "load", 64, 1000.0), ((1, 0), "load", 64, 1000.0))
    there, back = planned.streams
    short = back.model_copy(update={"received": 1960, "lost": 10})
    proof = planned.model_copy(update={"streams": (there, short)})
    line = LoadLine.of(proof, 1e9)
    assert line.intended_pps_per_direction == 1000.0
    assert line.pps_per_direction == pytest.approx(985.0)
    assert line.total_pps == pytest.approx(1985.0)
    # The direction that has most: 1000 frames of 84 B.
    assert line.l1_bps_per_direction == pytest.approx(672_000.0)
    found = result((proof,), 1000.0)
    assert found.validation is not None
    assert (found.validation.load_pps, found.validation.offered_pps) == (
        1000.0,
        pytest.approx(985.0),
    )


def test_a_line_of_an_earlier_version_is_the_intended_one() -> None:
    line_ = result((kept_up(TRIALS[5]),), 2000.0).model_dump(mode="json")["load_line"]
    del line_["intended_pps_per_direction"]
    line = LoadLine.model_validate(line_)
    assert (line.pps_per_direction, line.intended_pps) == (2000.0, 2000.0)


def test_with_a_load_line_there_is_no_reason() -> None:
    assert result(TRIALS, 2000.0).reason is None


def test_without_a_load_line_the_reason_is_kept() -> None:
    found = result(TRIALS[:5], None)
    assert (found.load_line, found.reason, found.streams) == (None, "no load passed", ())
    assert found.validation is None


def test_trials_are_counted_by_verdict_and_phase() -> None:
    counts = result(TRIALS, 2000.0).trials
    assert counts.total == 6
    assert counts.by_verdict == {"pass": 2, "fail": 1, "invalid": 2}
    assert counts.by_phase == {"warmup": 1, "search": 4, "validation": 1}


def test_invalid_reasons_count_trials_not_findings() -> None:
    reasons = result(TRIALS, 2000.0).invalid_reasons
    assert [(reason.rule, reason.trials) for reason in reasons] == [("stall", 2), ("link", 1)]
    assert reasons[0].example == "stall on cpu 5"


def test_validation_and_streams_are_those_of_the_proof() -> None:
    failed = record(7, phase="validation", load_pps=3000.0, verdict="fail")
    found = result((*TRIALS, failed), 2000.0)
    assert found.validation is not None
    assert (found.validation.trial, found.validation.verdict) == (6, "pass")
    assert found.validation.duration_s == 2.0
    assert found.streams == TRIALS[5].streams


def test_a_load_that_no_validation_passed_is_no_load_line(says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        result(TRIALS[:5], 2000.0)
    assert caught.value == says("2000.0")


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "demo", {})


@pytest.fixture
def finished(run: RunDirectory) -> RunDirectory:
    with Journal(run.journal) as journal:
        journal.append("run-started")
        finish_run(run, journal, result(TRIALS, 2000.0))
    return run


def test_a_result_survives_its_file(finished: RunDirectory) -> None:
    assert read_result(finished) == result(TRIALS, 2000.0)


def test_without_a_file_there_is_no_result(run: RunDirectory) -> None:
    assert read_result(run) is None


def test_a_damaged_result_is_named(finished: RunDirectory, says: Says) -> None:
    finished.result.write_text("{")
    with pytest.raises(RecordError) as caught:
        read_result(finished)
    assert caught.value == says("1")
    assert caught.value.where == str(finished.result)


def test_a_result_of_another_make_is_reported_in_one_line(
    finished: RunDirectory, says: Says
) -> None:
    finished.result.write_text('{"method": "load-line", "speed": 1}')
    with pytest.raises(RecordError) as caught:
        read_result(finished)
    assert caught.value == says()
    assert "\n" not in caught.value.message


def test_an_edited_result_is_no_result(finished: RunDirectory, says: Says) -> None:
    text = finished.result.read_text()
    finished.result.write_text(text.replace("2000.0", "9000.0"))
    with pytest.raises(RecordError) as caught:
        read_result(finished)
    assert caught.value == says()


def test_a_result_whose_journal_was_cut_is_no_result(finished: RunDirectory, says: Says) -> None:
    first = finished.journal.read_text().splitlines(keepends=True)[0]
    finished.journal.write_text(first)
    with pytest.raises(RecordError) as caught:
        read_result(finished)
    assert caught.value == says()


def test_a_result_that_a_kill_kept_from_being_written_is_written_by_the_next(
    finished: RunDirectory,
) -> None:
    written = finished.result.read_text()
    finished.result.unlink()
    with recording(finished):
        assert finished.result.read_text() == written


def test_a_run_that_was_reopened_has_no_result_and_misses_none(finished: RunDirectory) -> None:
    reopen_run(finished)
    with recording(finished):
        assert read_result(finished) is None
    check_result(finished.result, None, RunEnd.of(read_journal(finished.journal)))
