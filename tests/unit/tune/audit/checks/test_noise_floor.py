"""Check 47. Outputs: oslat of rt-tests, rtla-osnoise-top; calibrations by their own model."""

from datetime import UTC, datetime

import pytest

from plimsoll.record.calibrations import stored_calibration
from plimsoll.record.calibrations.calibration import CalibrationPoint
from plimsoll.record.trials.latency_record import LatencyRecord
from plimsoll.tune.audit.checks.noise_floor import CHECK
from plimsoll.tune.host.capture.capture_privacy import is_private
from tests.unit.tune.audit.hosts import host

HOSTNAME = "/proc/sys/kernel/hostname"
ONLINE = "/sys/devices/system/cpu/online"
KEPT = "/root/.local/state/plimsoll/calibrations/tester.json"
OSLAT = """\
oslat V 2.00
Total runtime: \t\t10 seconds
CPU list: \t\t2-3
    CPU:\t 2 3
    Maximum:\t {first} {second} (us)
 Max-Min:\t 3 4 (us)
"""
OSNOISE = """\
                                          Operating System Noise
duration:   0 00:00:10 | time is in us
CPU Period  Runtime  Noise  % CPU Aval  Max Noise  Max Single  HW  NMI
  2 #10    10000000   4541    99.95459    {noise}           6   0    0
"""


def calibration(worst_ns: int, hostname: str = "dut-1") -> str:
    latency = LatencyRecord.model_construct(count=0)
    point = CalibrationPoint.model_construct(
        name="idle",
        load_pps=0.0,
        sent_pps=1000.0,
        reached=1.0,
        sending_s=3.0,
        latency=latency,
        stalls=4,
        worst_stall_ns=worst_ns,
        stalled_share=0.0,
    )
    tester = stored_calibration.TesterIdentity(
        host=hostname,
        cpu_model=None,
        cpus=(2,),
        port_kind="net_ring",
        latency_clock="tsc",
        engine="1",
        dpdk="22.11",
    )
    return stored_calibration.StoredCalibration.model_construct(
        tester=tester,
        measured_at=datetime(2026, 11, 1, tzinfo=UTC),
        kernel=None,
        traffic="64 B",
        directions=1,
        points=(point,),
        clean_rate=None,
    ).model_dump_json(warnings=False)


@pytest.mark.parametrize(
    ("worst_ns", "verdict"), [(12_000, "ok"), (300_000, "warn"), (2_500_000, "fail")]
)
def test_a_calibrations_worst_stall(worst_ns: int, verdict: str) -> None:
    view = host(CHECK, {HOSTNAME: "dut-1\n", KEPT: calibration(worst_ns)})
    assert CHECK.judge(view, None).verdict == verdict


def test_another_hosts_calibration_does_not_count() -> None:
    view = host(CHECK, {HOSTNAME: "dut-2\n", KEPT: calibration(12_000)})
    assert CHECK.judge(view, None).verdict == "unknown"


@pytest.mark.parametrize(
    ("text", "verdict", "worst"),
    [
        (OSLAT.format(first=5, second=8), "ok", "8 us"),
        (OSLAT.format(first=5, second=45), "warn", "45 us"),
        (OSNOISE.format(noise=9), "ok", "9 us"),
        (OSNOISE.format(noise=1500), "fail", "1.5 ms"),
    ],
)
def test_the_output_of_other_tools(text: str, verdict: str, worst: str) -> None:
    finding = CHECK.judge(host(CHECK, {"/var/lib/plimsoll/noise/today.txt": text}), None)
    assert finding.verdict == verdict
    assert worst in finding.text


def test_the_worst_of_all_counts() -> None:
    files = {
        HOSTNAME: "dut-1",
        KEPT: calibration(12_000),
        "/var/lib/plimsoll/noise/oslat.txt": OSLAT.format(first=5, second=45),
    }
    finding = CHECK.judge(host(CHECK, files), None)
    assert finding.verdict == "warn"
    assert len(finding.read) == 2


@pytest.mark.parametrize("nonsense", ["", "{}", "[]", '{"points": []}', "[" * 100_000])
def test_nothing_measured_is_unknown(nonsense: str) -> None:
    finding = CHECK.judge(host(CHECK, {HOSTNAME: "dut-1", KEPT: nonsense}), None)
    assert finding.verdict == "unknown"
    assert "plimsoll calibrate" in finding.text


def test_a_capture_takes_calibrations_and_nothing_else_of_a_home() -> None:
    assert not is_private(KEPT)
    assert is_private("/root/.local/state/plimsoll/other.json")
    assert is_private("/home/me/.ssh/id_ed25519")


def test_one_cpu_is_no_polling_loops_alone() -> None:
    """What was measured there all the same is judged."""
    alone = {ONLINE: "0\n"}
    assert CHECK.judge(host(CHECK, alone), None).verdict == "not-applicable"
    measured = alone | {"/var/lib/plimsoll/noise/oslat": OSLAT.format(first=3, second=4)}
    assert CHECK.judge(host(CHECK, measured), None).verdict == "ok"
    assert CHECK.judge(host(CHECK, {ONLINE: "0-1\n"}), None).verdict == "unknown"
