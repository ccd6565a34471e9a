import pytest

from plimsoll.record.calibrations.calibration import CalibrationPoint
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import TrialRecord
from tests.unit.record.trial_parts import record


def trial(*sent: int | None) -> TrialRecord:
    """Two seconds of load 0-1, probe 0-1 and load 1-0, planned 1000, 10 and 1000 pps.

    Each sent so many frames; those of None are left out.
    """
    made = record(1, phase="calibration", verdict="none")
    streams: list[StreamRecord] = [
        stream.model_copy(update={"sent": frames})
        for stream, frames in zip(made.streams, sent, strict=True)
        if frames is not None
    ]
    return made.model_copy(update={"streams": tuple(streams)})


def test_the_rate_is_the_mean_of_the_directions_and_reached_the_worst_streams() -> None:
    point = CalibrationPoint.from_trial("full", trial(2000, 5, 1500))
    # 3500 frames in 2 s over two directions; 1500 of the 2000 that were planned.
    assert point.sent_pps == 875.0
    assert point.reached == 0.75


def test_a_direction_that_carries_a_probe_alone_does_not_halve_the_rate() -> None:
    made = trial(2000, 20, None)
    load, probe = made.streams
    other_way = probe.model_copy(update={"tx_port": 1, "rx_port": 0})
    one_way = made.model_copy(update={"streams": (load, other_way)})
    point = CalibrationPoint.from_trial("full", one_way)
    assert (point.sent_pps, point.reached) == (1000.0, 1.0)


def test_a_stream_without_a_rate_reaches_what_it_reaches() -> None:
    made = trial(2000, 5, None)
    load, probe = made.streams
    fast = load.model_copy(update={"planned_pps": None})
    point = CalibrationPoint.from_trial("full", made.model_copy(update={"streams": (fast, probe)}))
    assert (point.sent_pps, point.reached) == (1000.0, 1.0)


def test_without_load_it_is_the_probes_rate() -> None:
    point = CalibrationPoint.from_trial("idle", trial(None, 19, None))
    assert (point.sent_pps, point.reached) == (9.5, pytest.approx(0.95))
