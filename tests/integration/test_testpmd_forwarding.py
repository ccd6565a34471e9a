"""dpdk-testpmd's ways to forward, as a network function that works on memory, and as a sink."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import QUICK, Workplace, assert_goes_on, journal, until
from tests.integration.unspoilt import unspoilt

NOISY = {
    "lookup_megabytes": 16,
    "reads": 2,
    "writes": 2,
    "reads_writes": 4,
    "queued_frames": 64,
    "flush_ms": 1,
}


@pytest.mark.full
def test_frames_pass_a_noisy_network_function(place: Workplace) -> None:
    lab = {"kind": "testpmd-memif", "cpu": 1, "forwarding": "noisy", "noisy": NOISY}
    done = unspoilt(
        place,
        *("trial", place.experiment(lab=lab), "--load", "2kpps", "--duration", "1s", "--json"),
        *("--runs", place.runs),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for counts in json.loads(done.stdout)["streams"]:
        assert counts["sent"] == counts["received"] > 0
    (up,) = [event for event in journal(place.only_run()) if event["kind"] == "lab-up"]
    assert "--noisy-lkup-num-reads-writes=4" in up["lab"]["argv"]
    assert "--forward-mode=noisy" in up["lab"]["argv"]


def trial_of(place: Workplace, lab: dict[str, Any], **more: object) -> dict[str, Any]:
    """A trial of a second through this testpmd, both ways; what it printed."""
    experiment = place.experiment(lab={"kind": "testpmd-memif", "cpu": 1, **lab}, **more)
    words = ("--load", "2kpps", "--duration", "1s", "--json", "--runs", place.runs)
    done = unspoilt(place, "trial", experiment, *words)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return dict(json.loads(done.stdout))


# What each does to a frame is testpmd's business; to the tester all are the same frames.
@pytest.mark.parametrize(
    "forwarding",
    [
        pytest.param("io", marks=pytest.mark.full),
        pytest.param("mac", marks=pytest.mark.full),
        pytest.param("macswap", marks=pytest.mark.full),
        "5tswap",
        pytest.param("csum", marks=pytest.mark.full),
    ],
)
def test_each_way_to_forward_returns_every_frame_whole(place: Workplace, forwarding: str) -> None:
    trial = trial_of(place, {"forwarding": forwarding})
    assert trial["verdict"] == "pass"
    for counts in trial["streams"]:
        assert counts["sent"] == counts["received"] == counts["checked"] > 0
    agreed = [each["outcome"] for each in trial["findings"] if each["rule"] == "dut-counters"]
    assert agreed == ["ok"] * 4
    (up,) = [event for event in journal(place.only_run()) if event["kind"] == "lab-up"]
    assert f"--forward-mode={forwarding}" in up["lab"]["argv"]


SINK: dict[str, Any] = {"forwarding": "rxonly"}
TO_THE_SINK = {"streams": [{"name": "load", "role": "load", "flows": 64, "stream_types": ["ddos"]}]}
BINARY = {
    "strategy": "binary",
    "minimum": "1kpps",
    "maximum": "2kpps",
    "duration": "500ms",
    "validation": {"duration": "1s"},
}
OF_A_SINK: dict[str, Any] = {
    "profile": TO_THE_SINK,
    "search": BINARY,
    "criteria": [{"kind": "dut-received"}],
}


@pytest.mark.slow
def test_a_sink_is_judged_by_what_it_received(place: Workplace) -> None:
    trial = trial_of(place, SINK, **OF_A_SINK)
    assert trial["verdict"] == "pass"
    assert [each["sent"] + each["skipped"] for each in trial["streams"]] == [2000, 2000]
    assert [each["received"] for each in trial["streams"]] == [0, 0]
    received = [each for each in trial["findings"] if each["rule"] == "dut-received"]
    assert [(each["subject"], each["value"]) for each in received] == [("port 0", 0), ("port 1", 0)]
    sent = [each["sent"] for each in trial["streams"]]
    assert [each["rx_frames"] for each in trial["dut"]] == sent
    assert [each["tx_frames"] for each in trial["dut"]] == [0, 0]


@pytest.mark.full
def test_a_search_finds_what_a_sink_takes(place: Workplace) -> None:
    lab = {"kind": "testpmd-memif", "cpu": 1, **SINK}
    experiment = place.experiment(lab=lab, **OF_A_SINK)
    done = unspoilt(place, "run", experiment, "--json", "--runs", place.runs)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["load_line"]["intended_pps_per_direction"] == 2000


def cpu_ticks(pid: int) -> int:
    """What a process has had of its CPUs."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.full
def test_what_a_sink_has_no_room_for_it_did_not_receive(place: Workplace) -> None:
    """It is stopped while frames are sent, so that its rings of 64 frames overflow."""
    lab = {"kind": "testpmd-memif", "cpu": 1, "ring_size": 64, **SINK}
    trial = {**QUICK["trial"], "warmup": None}
    experiment = place.experiment(lab=lab, trial=trial, **OF_A_SINK)
    words = ("--load", "2kpps", "--duration", "5s", "--json", "--runs", place.runs)
    process = place.start("trial", experiment, *words)

    def started() -> bool:
        assert_goes_on(process)
        return any(event["kind"] == "trial-started" for event in place.journal_so_far())

    until(started, "the trial")
    (engine,), (sink,) = (place.processes(name) for name in ("plimsoll-engin", "dpdk-testpmd"))
    # It polls, and so sends for as long as it has its CPU.
    third = os.sysconf("SC_CLK_TCK") // 3
    begun = cpu_ticks(engine)
    until(lambda: cpu_ticks(engine) > begun + third, "frames to be sent")
    os.kill(sink, signal.SIGSTOP)
    until(lambda: cpu_ticks(engine) > begun + 2 * third, "the rings to overflow")
    os.kill(sink, signal.SIGCONT)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode in (0, 1, 5), stderr
    ended = json.loads(stdout)
    received = [each for each in ended["findings"] if each["rule"] == "dut-received"]
    for finding, stream, dut in zip(received, ended["streams"], ended["dut"], strict=True):
        offered = stream["sent"] + stream["refused"]
        assert stream["refused"] > 0
        assert dut["rx_frames"] == stream["sent"]
        assert finding["value"] == stream["refused"] / offered
        assert finding["outcome"] == "fail"
