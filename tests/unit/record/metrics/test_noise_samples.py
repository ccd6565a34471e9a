"""What neighbours did as metrics."""

from plimsoll.record.metrics.interval_samples import noise_samples
from tests.unit.record.neighbour_records import neighbour
from tests.unit.record.trial_parts import record


def test_each_that_said_what_it_did_is_a_series() -> None:
    trial = record(verdict="pass").model_copy(
        update={
            "noise": (
                neighbour(),
                neighbour(intensity=None, unknown="it was killed"),
                neighbour(name="memory random 64 MiB", unit="B/s", intensity=5e8),
            )
        }
    )
    assert [(s.metric.source, s.metric.type, s.names, s.value) for s in noise_samples(trial)] == [
        ("noise", "bogo-ops-sec", {"neighbour": "0", "name": "stress-ng timer"}, 9876.5),
        ("noise", "bytes-sec", {"neighbour": "2", "name": "memory random 64 MiB"}, 5e8),
    ]
