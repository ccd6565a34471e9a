"""What `plimsoll calibrate` prints of what it found."""

import io
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from plimsoll.record.calibrations.calibration import CalibrationPoint
from plimsoll.record.calibrations.stored_calibration import CleanRate, StoredCalibration
from plimsoll.record.calibrations.stored_calibration import TesterIdentity as Identity
from plimsoll.record.trials.latency_record import LatencyRecord
from plimsoll.terminal.tables.noise_summary import print_calibration
from tests.worded.says import Says, passage

LATENCY = LatencyRecord(
    count=3000,
    min_ns=90,
    mean_ns=320.0,
    max_ns=20_170,
    p50_ns=310,
    p90_ns=400,
    p99_ns=1_175,
    p99_9_ns=2_623,
    p99_99_ns=20_170,
)
IDLE = CalibrationPoint(
    name="one in flight",
    load_pps=0.0,
    sent_pps=6_862_000.0,
    reached=1.0,
    sending_s=3.0,
    latency=LATENCY,
    stalls=12,
    worst_stall_ns=4_048_000,
    stalled_share=0.01,
)
CALIBRATION = StoredCalibration(
    tester=Identity(
        host="bench-07",
        cpu_model="Fast CPU",
        cpus=(0,),
        port_kind="net_ring",
        latency_clock="tsc",
        engine="0.1.0",
        dpdk="DPDK 22.11.6",
    ),
    measured_at=datetime(2026, 3, 14, tzinfo=UTC),
    kernel="6.1.0",
    traffic="load 64 B in 1024 flows, probe 64 B at 1 kpps",
    directions=2,
    points=(IDLE,),
    clean_rate=CleanRate(
        pps_per_direction=12e6, clean_trials=3, trials=3, trial_s=0.5, fault_above=None
    ),
)


def printed(**changes: Any) -> str:
    screen = io.StringIO()
    console = Console(width=80, file=screen)
    print_calibration(CALIBRATION.model_copy(update=changes), console)
    return screen.getvalue()


def test_a_point_is_a_line_that_fits_a_terminal() -> None:
    lines = printed().splitlines()
    assert lines[0].strip() == "net_ring: load 64 B in 1024 flows, probe 64 B at 1 kpps"
    assert lines[1].split() == ["sent", "p50", "p99", "p99.9", "max", "stall"]
    assert lines[2].split("  ")[0] == "one in flight"
    for words in ("6.862 Mpps", "310 ns", "1.175 µs", "2.623 µs", "20.17 µs", "4.048 ms"):
        assert words in lines[2]


def test_what_is_sent_without_load_is_named(says: Says) -> None:
    assert passage(printed(), "in flight") == says()


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        (
            {},
            ("0", "310", "12", "2", "net_ring"),
        ),
        ({"directions": 1}, ("net_ring",)),
        (
            {"tester": CALIBRATION.tester.model_copy(update={"cpus": (2, 3, 4, 8)})},
            ("2-4,8", "tester", "310"),
        ),
        (
            {"clean_rate": None},
            ("0", "310", "net_ring"),
        ),
        (
            {
                "points": (
                    IDLE.model_copy(
                        update={"latency": LATENCY.model_copy(update={"p50_ns": None})}
                    ),
                )
            },
            ("latency", "12"),
        ),
    ],
)
def test_one_plain_sentence_says_it(
    changes: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    assert passage(printed(**changes), *facts) == says()
