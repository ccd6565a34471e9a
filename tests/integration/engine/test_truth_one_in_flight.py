"""One probe in flight at a time, past a DUT that returns some of them late or never."""

from collections.abc import Iterator

import pytest

from tests.integration.engine.delay_dut import path
from tests.integration.engine.requests import Request, stream
from tests.integration.engine.truth_bed import TruthBed, assert_ports, assert_stream, truth_bed

MILLISECOND_NS = 1_000_000
# Longer than a busy machine lets any program wait.
NEVER_US = 5e6


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TruthBed]:
    with truth_bed(tmp_path_factory.mktemp("truth")) as bed:
        yield bed


def probes(number: int, timeout_us: float, count: int = 100) -> Request:
    """So many probes, one after the other."""
    request = stream(number, 0, role="latency", rx_port=1, frame_count=count)
    del request["rate_pps"]
    return request | {"pacing": {"kind": "one-in-flight", "timeout_us": timeout_us}}


def test_a_probe_waits_for_the_one_before(bed: TruthBed) -> None:
    """However slow the machine is, there are no more of them than holds fit into the time."""
    request = probes(0, NEVER_US, count=1000)
    hold = [10 * MILLISECOND_NS] * 2
    truth = bed.run(request, paths=[path(0, 1, hold_ns=hold)], duration_s=0.5)
    sent = truth.counts(0)["sent"]
    assert 0 < sent <= 0.5 / 0.01 + 1
    assert_stream(truth, request, sent)
    assert_ports(truth)
    counts = truth.counts(0)
    assert (counts["received"], counts["timed_out"], counts["out_of_order"]) == (sent, 0, 0)


def test_the_last_probe_ends_the_stream(bed: TruthBed) -> None:
    request = probes(0, NEVER_US, count=3)
    truth = bed.run(request, paths=[path(0, 1)], duration_s=3)
    assert_stream(truth, request, 3)


@pytest.mark.slow
def test_each_lost_probe_times_out(bed: TruthBed) -> None:
    request = probes(0, 1e6, count=5)
    wrongs = [{"do": "drop", "frames": [1, 3]}]
    truth = bed.run(request, paths=[path(0, 1, wrongs=wrongs)], duration_s=5)
    assert_stream(truth, request, 5)
    assert truth.counts(0)["timed_out"] == truth.report.applied()[0] == 2


def test_probes_that_return_after_their_time_are_received_all_the_same(bed: TruthBed) -> None:
    """Held far beyond the time-out: every one times out, and every one is timed."""
    request = probes(0, 1000)
    hold = [500 * MILLISECOND_NS] * 2
    truth = bed.run(request, paths=[path(0, 1, hold_ns=hold)], duration_s=0.4, drain_s=1.5)
    sent = truth.counts(0)["sent"]
    assert_stream(truth, request, sent)
    # Sending ended before the first came back, so none found its probe in flight.
    assert truth.counts(0)["received"] == sent
    assert truth.counts(0)["timed_out"] in (sent - 1, sent)


def test_next_to_a_load(bed: TruthBed) -> None:
    load = stream(1, 10_000, rx_port=1)
    request = probes(0, NEVER_US)
    wrongs = [{"do": "drop", "every": 10, "stream": 1}]
    truth = bed.run(load, request, paths=[path(0, 1, wrongs=wrongs)], duration_s=0.3)
    sent = truth.counts(0)["sent"]
    assert 0 < sent <= 100
    assert_stream(truth, request, sent)
    assert_stream(truth, load, 3000)
    assert truth.counts(0)["timed_out"] == 0
