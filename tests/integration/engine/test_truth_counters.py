"""Every counter of a stream, by the account of a DUT that loses, doubles and damages frames."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.engine.delay_dut import path
from tests.integration.engine.requests import DESTINATION, Request, stream
from tests.integration.engine.truth_bed import TruthBed, assert_ports, assert_stream, truth_bed

MILLISECOND_NS = 1_000_000
SENT = 1000


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TruthBed]:
    with truth_bed(tmp_path_factory.mktemp("truth")) as bed:
        yield bed


def there(number: int = 0, rate_pps: float = 10_000, **changes: Any) -> Request:
    return stream(number, rate_pps, tx_port=0, rx_port=1, **changes)


def back(number: int, rate_pps: float = 10_000, **changes: Any) -> Request:
    return stream(number, rate_pps, tx_port=1, rx_port=0, **changes)


@pytest.mark.parametrize(
    "wrongs",
    [
        [],
        [{"do": "drop", "every": 7}],
        [{"do": "drop", "frames": [0, 1, 500, SENT - 1]}],
        [{"do": "duplicate", "every": 10}],
        [{"do": "duplicate", "frames": [0, 3, SENT - 1], "copies": 3}],
        [{"do": "reorder", "every": 9}],
        [{"do": "reorder", "every": 40, "by": 30}],
        [{"do": "corrupt", "every": 13, "byte": 0}],
        [{"do": "corrupt", "every": 13, "byte": 7, "flip": 0x80}],
        [{"do": "misdirect", "every": 11}],
        [{"do": "stale", "every": 6, "mark": 9}],
    ],
    ids=lambda value: "-".join(f"{k}{v}" for wrong in value for k, v in wrong.items()),
)
def test_one_wrong_at_a_time(bed: TruthBed, wrongs: list[dict[str, Any]]) -> None:
    requests = [there(0), there(1, role="latency")]
    truth = bed.run(*requests, paths=[path(0, 1, wrongs=wrongs)])
    for request in requests:
        assert_stream(truth, request, SENT)
    assert_ports(truth)
    assert all(applied > 0 for applied in truth.report.applied())


def test_the_expectations_themselves_by_hand(bed: TruthBed) -> None:
    """So that the model that other tests trust is itself held against plain numbers."""
    request = there()
    wrongs = [
        {"do": "drop", "frames": [10, 20, 30]},
        {"do": "duplicate", "frames": [40, 50], "copies": 2},
        {"do": "reorder", "frames": [60], "by": 5},
        {"do": "corrupt", "frames": [70]},
        {"do": "misdirect", "frames": [80, 81]},
        {"do": "stale", "frames": [90]},
    ]
    truth = bed.run(request, paths=[path(0, 1, wrongs=wrongs)])
    counts = truth.counts(0)
    # Of 1000, 3 + 1 + 2 + 1 never came as they should; four copies came besides.
    assert counts["sent"] == SENT
    assert counts["received"] == SENT - 7 + 4
    assert counts["missing"] == 7
    assert counts["duplicate"] == 4
    assert counts["out_of_order"] == 1
    assert counts["corrupt"] == 1
    assert counts["misdirected"] == 2
    assert [port["stale"] for port in truth.reply["ports"]] == [0, 1]


def test_all_wrongs_at_once_in_both_directions(bed: TruthBed) -> None:
    wrongs = [
        {"do": "drop", "every": 23},
        {"do": "duplicate", "every": 17, "copies": 2},
        {"do": "reorder", "every": 31, "by": 12},
        {"do": "misdirect", "every": 19},
    ]
    damage = [{"do": "corrupt", "every": 29, "byte": 3}]
    old = [{"do": "stale", "every": 37}]
    requests = [
        there(0, 8000, fields=[DESTINATION]),
        there(1, 2000, role="latency"),
        back(2, 8000, fields=[DESTINATION]),
        back(65535, 2000, role="latency"),
    ]
    truth = bed.run(
        *requests,
        paths=[path(0, 1, wrongs=wrongs + damage), path(1, 0, wrongs=wrongs + old)],
        duration_s=0.3,
    )
    for request, sent in zip(requests, (2400, 600, 2400, 600), strict=True):
        assert_stream(truth, request, sent)
    assert_ports(truth)


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.full) for seed in (2, 3, 4))]
)
def test_an_order_made_of_random_delays(bed: TruthBed, seed: int) -> None:
    """Each frame is held for its own time, so that many overtake many."""
    request = there(role="latency" if seed % 2 else "load")
    wrongs = [{"do": "drop", "every": 50}, {"do": "duplicate", "every": 20}]
    mixed = path(0, 1, hold_ns=[0, 5 * MILLISECOND_NS], keep_order=False, wrongs=wrongs)
    truth = bed.run(request, paths=[mixed], seed=seed)
    assert_stream(truth, request, SENT)
    assert truth.counts(0)["out_of_order"] > 100


def test_damage_anywhere_in_sequence_time_or_complement(bed: TruthBed) -> None:
    """Of each stream another byte of the signature is damaged."""
    requests = [there(byte, rate_pps=1000) for byte in range(14)]
    damage = [
        {"do": "corrupt", "every": 10, "byte": byte, "flip": 1 << byte % 8, "stream": byte}
        for byte in range(14)
    ]
    truth = bed.run(*requests, paths=[path(0, 1, wrongs=damage)])
    for request in requests:
        assert_stream(truth, request, 100)
        assert truth.counts(request["stream"])["corrupt"] == 10


def test_damage_before_the_signature_is_not_seen(bed: TruthBed) -> None:
    """The signature covers itself alone; of the rest the FCS takes care."""
    damage = {"do": "corrupt", "every": 10, "byte": 18}
    truth = bed.run(there(), paths=[path(0, 1, wrongs=[damage])])
    counts = truth.counts(0)
    assert truth.report.applied() == [100]
    assert (counts["received"], counts["corrupt"], counts["missing"]) == (SENT, 0, 0)


@pytest.mark.parametrize("byte", range(14, 18))
def test_a_damaged_mark_or_stream_makes_a_stranger(bed: TruthBed, byte: int) -> None:
    damage = {"do": "corrupt", "every": 10, "byte": byte, "flip": 0x40}
    truth = bed.run(there(), paths=[path(0, 1, wrongs=[damage])])
    counts, port = truth.counts(0), truth.reply["ports"][1]
    assert (counts["received"], counts["missing"], counts["corrupt"]) == (900, 100, 0)
    assert (port["foreign"], port["stale"]) == (100, 0)
    assert port["foreign_kinds"]["ipv4"] == 100
