"""One probe in flight at a time, past a DUT that returns some of them late or never."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.engine.delay_dut import path
from tests.integration.engine.requests import Request, stream
from tests.integration.engine.truth_bed import TruthBed, assert_ports, assert_stream, truth_bed

MILLISECOND_NS = 1_000_000
PROBES = 100


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TruthBed]:
    with truth_bed(tmp_path_factory.mktemp("truth")) as bed:
        yield bed


def probes(number: int, timeout_us: float, **changes: Any) -> Request:
    """So many probes, one after the other."""
    request = stream(number, 0, role="latency", rx_port=1, frame_count=PROBES, **changes)
    del request["rate_pps"]
    return request | {"pacing": {"kind": "one-in-flight", "timeout_us": timeout_us}}


def test_a_probe_waits_for_the_one_before(bed: TruthBed) -> None:
    """With the DUT's hold between them, so many probes take so long at least."""
    request = probes(0, 5e6)
    hold = [MILLISECOND_NS] * 2
    truth = bed.run(request, paths=[path(0, 1, hold_ns=hold)], duration_s=3)
    assert_stream(truth, request, PROBES)
    assert_ports(truth)
    counts = truth.counts(0)
    assert (counts["received"], counts["timed_out"], counts["out_of_order"]) == (PROBES, 0, 0)


def test_each_lost_probe_times_out(bed: TruthBed) -> None:
    request = probes(0, 50_000)
    wrongs = [{"do": "drop", "every": 25}]
    truth = bed.run(request, paths=[path(0, 1, wrongs=wrongs)], duration_s=3)
    assert_stream(truth, request, PROBES)
    assert truth.counts(0)["timed_out"] == truth.report.applied()[0] == PROBES // 25


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


def test_beside_a_load(bed: TruthBed) -> None:
    load = stream(1, 10_000, rx_port=1)
    request = probes(0, 5e6)
    wrongs = [{"do": "drop", "every": 10, "stream": 1}]
    truth = bed.run(load, request, paths=[path(0, 1, wrongs=wrongs)], duration_s=0.3)
    sent = truth.counts(0)["sent"]
    assert 0 < sent <= PROBES
    assert_stream(truth, request, sent)
    assert_stream(truth, load, 3000)
    assert truth.counts(0)["timed_out"] == 0
