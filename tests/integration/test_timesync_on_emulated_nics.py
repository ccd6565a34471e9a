"""Stamps that ports take of probes (DPDK's timesync) on Intel's 82576, which QEMU emulates.

By the driver of DPDK's that the machine has installed, and by the same one as `make vm-timesync`
builds it. What is shown is that stamps are taken, are those of the right probe, and go through the
mapped clocks; how exact they are, no emulated card shows. Skipped where the parts are missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
import yaml

from tests.integration.command import finished_trials
from tests.integration.dut.namespace_lab import agreements
from tests.integration.engine.port_bed import MARKS
from tests.integration.engine.requests import Request, trial_request
from tests.integration.engine.session import EngineSession, Message
from tests.integration.unspoilt import unspoilt_in_guest
from tests.integration.vm.cards_experiment import ON_CARDS
from tests.integration.vm.guest import CannotBoot
from tests.integration.vm.guest_engine import open_request, starting_engine
from tests.integration.vm.nic_guest import CARDS, ROOT, NicGuest, booted

pytestmark = pytest.mark.full

# Where `make vm-timesync` builds it.
BUILT = ROOT / "build" / "vm-timesync" / "librte_net_e1000.so"
# Where DPDK looks for the one that is installed.
INSTALLED = "$(echo /usr/lib/*/dpdk/pmds-*/librte_net_e1000.so.*.*)"
PROBES = 60
OUTCOMES = ("stamped", "no_tx_stamp", "no_rx_stamp", "unmatched")
# PTP on Ethernet (IEEE 1588-2008, annex F): a Sync message of version 2 and of 44 bytes, and room
# for a signature.
SYNC = bytes.fromhex("020100000001 020000000001 88f7 0002002c").ljust(14 + 44 + 18, b"\0")
EXPERIMENT = ON_CARDS | {
    "name": "stamped",
    "generator": {"kind": "engine", "cpus": [1], "stamps": "timesync"},
    "profile": {
        "streams": [
            {"name": "load", "role": "load", "flows": 64},
            {
                "name": "probe",
                "role": "latency",
                "protocol": "PTP",
                "rate": "20pps",
                "pacing": {"one-in-flight": {"timeout": "2s"}},
                "direction": "unidirectional",
            },
        ]
    },
    "trial": {"drain": "2s", "warmup": None, "catch_up": "1s"},
}


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NicGuest]:
    """Its four cards are vfio-pci's."""
    try:
        with booted("igb", tmp_path_factory.mktemp("timesync")) as guest:
            guest.bind_by_hand(*CARDS.values())
            yield guest
    except CannotBoot as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def stamping(guest: NicGuest) -> NicGuest:
    """With the driver that stamps in place of the one that does not."""
    if not BUILT.exists():
        pytest.skip("there is no driver that stamps (make vm-timesync)")
    guest.must(f"mount --bind {BUILT} {INSTALLED}")
    return guest


@contextmanager
def opened(guest: NicGuest) -> Iterator[EngineSession]:
    """An engine on two cards of one cable."""
    with starting_engine(guest) as engine:
        ports = engine.ask(timesync_request(CARDS[1], CARDS[3]))["ports"]
        assert [port["latency_clock"] for port in ports] == ["timesync"] * 2
        yield engine
        engine.finish()


def timesync_request(*cards: str) -> Request:
    ports = [{"devargs": card, "descriptors": 512, "stamps": "timesync"} for card in cards]
    queues = [[port, 0] for port in range(len(cards))]
    return open_request(*ports, workers=[{"cpu": 1, "tx": queues, "rx": queues}])


def probes(number: int, tx_port: int, **more: object) -> Request:
    return {
        "stream": number,
        "role": "latency",
        "tx_port": tx_port,
        "rx_port": 1 - tx_port,
        "rate_pps": 20,
        "frame_count": PROBES,
        "frames": [SYNC.hex()],
        "pacing": {"kind": "one-in-flight", "timeout_us": 2_000_000},
        "stamps": "timesync",
        **more,
    }


def outcome(engine: EngineSession, *streams: Request) -> Sequence[Message]:
    """What the engine counts of streams that have time for all of their frames."""
    request = trial_request(*streams, duration_s=15.0, drain_s=2.0, mark=next(MARKS))
    counted: Sequence[Message] = engine.ask(request)["streams"]
    print(json.dumps([stream["stamps"] for stream in counted if "stamps" in stream]))
    return counted


def test_a_driver_that_was_not_built_to_stamp_is_refused_by_name(guest: NicGuest) -> None:
    with starting_engine(guest) as engine:
        error = engine.ask_in_vain(timesync_request(CARDS[1], CARDS[3]))
    assert error["where"] == "ports[0].stamps"
    assert error["message"].startswith(
        "driver net_e1000_igb gave no stamp of a PTP frame that it sent; igb, ixgbe and i40e give "
        "some only in a DPDK built with RTE_LIBRTE_IEEE1588 defined"
    )
    (guest.folder / "shared" / "refused.yaml").write_text(yaml.safe_dump(EXPERIMENT))
    refused = guest.plimsoll("trial /shared/refused.yaml --load 100pps --duration 2s")
    assert refused.status == 3, refused.said
    assert "RTE_LIBRTE_IEEE1588" in " ".join(refused.said.split())


def test_probes_are_stamped_as_they_leave_and_as_they_come(stamping: NicGuest) -> None:
    """But for one now and then, whose stamp an emulated TSC puts before the probe itself."""
    with opened(stamping) as engine:
        for counts in outcome(engine, probes(0, 0), probes(1, 1)):
            assert (counts["sent"], counts["received"]) == (PROBES, PROBES)
            stamps = counts["stamps"]
            assert stamps["error_ns"] > 0
            assert (stamps["no_tx_stamp"], stamps["no_rx_stamp"]) == (0, 0)
            assert stamps["stamped"] + stamps["unmatched"] == PROBES
            assert stamps["stamped"] >= 0.9 * PROBES
            assert counts["latency"]["count"] == stamps["stamped"]
            assert sum(frames for _, frames in counts["latency_us"]) == stamps["stamped"]
            assert counts["latency_across_stalls"]["count"] == 0


def test_stamps_of_other_frames_are_not_taken_for_a_probes(stamping: NicGuest) -> None:
    """Of 20 PTP frames to a probe the port stamps the first, and none until that is read."""
    others = {"role": "load", "pacing": {"kind": "constant"}, "rate_pps": 400}
    foreign = probes(1, 0, **others, frame_count=15 * 400)
    del foreign["stamps"]
    with opened(stamping) as engine:
        counts, _ = outcome(engine, probes(0, 0), foreign)
        stamps = counts["stamps"]
        assert counts["received"] == PROBES
        assert stamps["no_rx_stamp"] > 0
        assert sum(stamps[each] for each in OUTCOMES) == PROBES
        assert counts["latency"]["count"] == stamps["stamped"]


def test_frames_that_are_no_ptp_have_no_latency(stamping: NicGuest) -> None:
    """The sending port stamps what it is to, and the receiving one nothing but PTP."""
    plain = SYNC[:12] + bytes.fromhex("88b5") + SYNC[14:]
    with opened(stamping) as engine:
        (counts,) = outcome(engine, probes(0, 0, frames=[plain.hex()]))
        assert counts["received"] == PROBES
        assert counts["stamps"]["no_rx_stamp"] == PROBES
        assert counts["latency"]["count"] == 0


def test_a_trial_through_a_forwarder_has_its_ports_stamps_in_the_record(
    stamping: NicGuest,
) -> None:
    (stamping.folder / "shared" / "stamped.yaml").write_text(yaml.safe_dump(EXPERIMENT))
    words = "--load 100pps --duration 5s --runs /shared/stamped"
    done = unspoilt_in_guest(stamping, f"trial /shared/stamped.yaml {words}")
    print(done.said)
    assert done.status == 0
    (run,) = (stamping.folder / "shared" / "stamped").iterdir()
    (trial,) = finished_trials(run)
    assert trial["verdict"] == "pass", trial["findings"]
    assert agreements(trial) == ["ok"] * 4
    *loads, probe = trial["streams"]
    assert [load["stamps"] for load in loads] == [None, None]
    assert probe["stamps"]["stamped"] == probe["latency"]["count"] > 0
    assert sum(probe["stamps"][each] for each in OUTCOMES) == probe["received"]
    assert "probes that came back were stamped by both ports" in " ".join(done.said.split())


def test_a_probe_for_its_own_sake_is_stamped(stamping: NicGuest) -> None:
    """`plimsoll probe`, one in flight and no load, of the profile's PTP."""
    (stamping.folder / "shared" / "probed.yaml").write_text(yaml.safe_dump(EXPERIMENT))
    words = "--duration 5s --rate 20pps --runs /shared/probed"
    done = unspoilt_in_guest(stamping, f"probe /shared/probed.yaml {words}")
    assert done.status == 0, done.said
    (run,) = (stamping.folder / "shared" / "probed").iterdir()
    (probed,) = [trial for trial in finished_trials(run) if trial["phase"] == "probe"]
    (stream,) = probed["streams"]
    assert stream["stamps"]["stamped"] == stream["latency"]["count"] > 0
