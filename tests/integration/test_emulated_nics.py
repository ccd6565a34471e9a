"""The engine on network cards that QEMU emulates, by DPDK's own drivers on vfio-pci.

What is shown is that it works, never how fast. Skipped where the parts are missing; `make vm-nics`
fetches them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from tests.integration.engine.port_bed import CLEAN, MARKS
from tests.integration.engine.requests import DESTINATION, FRAME, Request, trial_request
from tests.integration.engine.session import EngineSession, Message
from tests.integration.vm.guest import CannotBoot
from tests.integration.vm.guest_engine import open_request, starting_engine
from tests.integration.vm.nic_guest import CARDS, MODELS, NicGuest, booted

pytestmark = pytest.mark.full

# One polling loop, on a CPU of the guest of its own.
WORKER_CPU = 1
RATE_PPS, FRAMES = 200.0, 300
# The names of DPDK's drivers, from its sources: drivers/net/{e1000,vmxnet3,virtio}.
DRIVERS = {
    "igb": "net_e1000_igb",
    "e1000e": "net_e1000_em",
    "vmxnet3": "net_vmxnet3",
    "virtio-net-pci": "net_virtio",
}
KERNEL_DRIVERS = {
    "igb": "igb",
    "e1000e": "e1000e",
    "vmxnet3": "vmxnet3",
    "virtio-net-pci": "virtio-pci",
}

only_igb = pytest.mark.parametrize("guest", ["igb"], indirect=True)


@pytest.fixture(scope="module", params=MODELS)
def guest(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NicGuest]:
    """One of each kind of cards, by turns, its cards given to vfio-pci."""
    # A Unix socket's path has 107 characters at most.
    folder = tmp_path_factory.mktemp("nics")
    try:
        with booted(request.param, folder) as guest:
            guest.bind_by_hand(*CARDS.values())
            yield guest
    except CannotBoot as missing:
        pytest.skip(str(missing))


@contextmanager
def engine_on(
    guest: NicGuest, *addresses: str, workers: Sequence[Request] = ()
) -> Iterator[EngineSession]:
    """One whose ports are these cards, polled by one worker unless `workers` says otherwise."""
    queues = [[port, 0] for port in range(len(addresses))]
    ports = [{"devargs": address, "descriptors": 512} for address in addresses]
    with starting_engine(guest) as engine:
        one = {"cpu": WORKER_CPU, "tx": queues, "rx": queues}
        engine.ask(open_request(*ports, workers=workers or [one]))
        yield engine


def stream(number: int, tx_port: int, rx_port: int, **more: object) -> Request:
    return {
        "stream": number,
        "role": "load",
        "tx_port": tx_port,
        "rx_port": rx_port,
        "rate_pps": RATE_PPS,
        "frame_count": FRAMES,
        "frames": [FRAME.hex()],
        **more,
    }


def endless(tx_port: int, rx_port: int) -> Request:
    """One that sends to the trial's end."""
    return {
        name: value for name, value in stream(0, tx_port, rx_port).items() if name != "frame_count"
    }


def carried(engine: EngineSession, *streams: Request) -> Message:
    """What the engine says of a trial in which each stream has time for all of its frames."""
    return engine.ask(
        trial_request(*streams, duration_s=5.0, drain_s=2.0, catch_up_us=1e6, mark=next(MARKS))
    )


def model_of(guest: NicGuest, request: pytest.FixtureRequest) -> str:
    return str(request.node.callspec.params["guest"])


def test_a_card_is_given_to_the_kernel_and_back_by_plimsoll(
    guest: NicGuest, request: pytest.FixtureRequest
) -> None:
    """And not while it carries the default route."""
    kernel_driver = KERNEL_DRIVERS[model_of(guest, request)]
    device = f"/sys/bus/pci/devices/{CARDS[4]}"
    given_back = guest.plimsoll(f"ports unbind {CARDS[4]}")
    assert given_back.status == 0, given_back.said
    assert f"{CARDS[4]} has the kernel's driver {kernel_driver}" in given_back.said
    # Virtio's own device lies below its PCI function.
    found = guest.must(f"ls -d {device}/net/* {device}/virtio*/net/* 2>/dev/null | xargs basename")
    name = found.strip()
    guest.must(f"ip addr add 192.0.2.1/24 dev {name}; ip link set {name} up")
    guest.must(f"ip route add default via 192.0.2.2 dev {name}")
    refused = guest.plimsoll(f"ports bind {name}")
    assert refused.status == 3
    assert f"{name} is in use: it carries the default route" in refused.said
    guest.must(f"ip link set {name} down")
    bound = guest.plimsoll(f"ports bind {CARDS[4]}")
    assert bound.status == 0, bound.said
    assert guest.must(f"basename $(readlink {device}/driver)").strip() == "vfio-pci"
    ports = json.loads(guest.plimsoll("ports --json").said)
    assert {port["pci_address"]: (port["driver"], port["pci_needs"]) for port in ports} == {
        address: ("vfio-pci", []) for address in CARDS.values()
    }


def test_every_frame_between_two_cards_is_accounted_for(
    guest: NicGuest, request: pytest.FixtureRequest
) -> None:
    with engine_on(guest, CARDS[1], CARDS[3]) as engine:
        ports = engine.messages[-1]["ports"]
        assert {port["driver"] for port in ports} == {DRIVERS[model_of(guest, request)]}
        assert [port["mac"] for port in ports] == ["52:54:00:00:00:01", "52:54:00:00:00:03"]
        reply = carried(engine, stream(0, 0, 1), stream(1, 1, 0))
        for counts in reply["streams"]:
            assert {name: counts[name] for name in CLEAN} == CLEAN
        for port in reply["ports"]:
            assert (port["rx_missed"], port["rx_errors"], port["rx_no_mbuf"]) == (0, 0, 0)
            assert port["link_up"]
        engine.finish()


def test_a_cable_that_is_pulled_ends_the_trial(guest: NicGuest) -> None:
    with engine_on(guest, CARDS[1], CARDS[3]) as engine:
        engine.send(trial_request(endless(0, 1), duration_s=60.0, drain_s=1.0, interval_s=0.5))
        engine.next_interval()
        guest.set_link(3, up=False)
        try:
            reply = engine.reply_to(2)
        finally:
            guest.set_link(3, up=True)
        assert reply["ended_by"] == "link_down"
        assert [port["link_up"] for port in reply["ports"]] == [True, False]
        engine.finish()


def test_links_are_taken_down_where_the_driver_can(
    guest: NicGuest, request: pytest.FixtureRequest
) -> None:
    """QEMU's 82576 keeps its link, so its cable is pulled as well, which ends no trial then."""
    model = model_of(guest, request)
    down = {"id": 5, "request": "link", "port": 0, "up": False}
    with engine_on(guest, CARDS[1], CARDS[3]) as engine:
        engine.send(trial_request(endless(0, 1), duration_s=600.0, drain_s=1.0, interval_s=0.1))
        engine.next_interval()
        if model != "igb":
            error = engine.ask_in_vain(down)
            assert error["message"].startswith(f"driver {DRIVERS[model]} cannot take links down")
        else:
            engine.ask(down)
            guest.set_link(1, up=False)
            try:
                while engine.next_interval()["ports"][0]["link_up"]:
                    pass
                engine.next_interval()
            finally:
                guest.set_link(1, up=True)
            # The link is not up yet, nor in some of the intervals that follow.
            assert not engine.ask({**down, "up": True})["link_up"]
            while not engine.next_interval()["ports"][0]["link_up"]:
                pass
        while not engine.next_interval()["streams"][0]["received"]:
            pass
        engine.ask({"id": 6, "request": "stop"})
        assert engine.reply_to(2)["ended_by"] == "stop"
        engine.finish()


@only_igb
def test_rss_spreads_flows_over_queues(guest: NicGuest) -> None:
    """Each of two receive queues of card 3 has a polling loop of its own, and both get frames."""
    workers = [
        {"cpu": 0, "tx": [[0, 0], [1, 0]], "rx": [[0, 0]]},
        {"cpu": 1, "tx": [], "rx": [[1, 0]]},
        {"cpu": 2, "tx": [], "rx": [[1, 1]]},
    ]
    with engine_on(guest, CARDS[1], CARDS[3], workers=workers) as engine:
        ports = engine.messages[-1]["ports"]
        assert [(port["rss"], port["rx_queues"]) for port in ports] == [(True, 1), (True, 2)]
        reply = carried(engine, stream(0, 0, 1, fields=[DESTINATION]))
        (counts,) = reply["streams"]
        # Frames of two queues have no order among them.
        assert {name: counts[name] for name in CLEAN} | {"out_of_order": 0} == CLEAN
        # Turns of these two loops that were not idle received something.
        taken = [worker["polls"] - worker["idle_polls"] for worker in reply["workers"][1:]]
        assert min(taken) > 0
        engine.finish()


def test_frames_pass_through_testpmd_on_the_other_ends(guest: NicGuest) -> None:
    commands = "; ".join(("sleep 1", "while [ ! -e /shared/enough ]; do sleep 0.2; done"))
    guest.must("rm -f /shared/enough")
    testpmd = guest.start(
        f"({commands}; echo stop; echo quit) | dpdk-testpmd -l 0,2 --in-memory --no-telemetry "
        f"-a {CARDS[3]} -a {CARDS[4]} -- --auto-start --interactive --forward-mode=io "
        "--total-num-mbufs=8192"
    )
    with engine_on(guest, CARDS[1], CARDS[2]) as engine:
        # What was sent before testpmd forwards would be lost.
        guest.must(
            f"until grep -q 'io packet forwarding' /shared/{testpmd}.out; do sleep 0.2; done"
        )
        reply = carried(engine, stream(0, 0, 1), stream(1, 1, 0))
        for counts in reply["streams"]:
            assert {name: counts[name] for name in CLEAN} == CLEAN
        engine.finish()
    guest.must("touch /shared/enough")
    said = guest.wait(testpmd).said
    totals = re.search(r"all ports\+.*?RX-packets: (\d+).*?TX-packets: (\d+)", said, re.DOTALL)
    assert totals is not None, said
    assert [int(total) for total in totals.groups()] == [2 * FRAMES, 2 * FRAMES]


def test_what_is_killed_leaves_nothing_and_the_card_opens_again(guest: NicGuest) -> None:
    with engine_on(guest, CARDS[1], CARDS[3]) as engine:
        engine.send(trial_request(endless(0, 1), duration_s=600.0, interval_s=0.5))
        engine.next_interval()
        guest.must(f"kill -9 {engine.hello['pid']}")
        # 128 and the signal's number, as its shell has it.
        assert engine.end() == 137
    assert guest.must("ls /dev/hugepages") == ""
    free, total = (
        guest.must(f"cat /sys/kernel/mm/hugepages/hugepages-2048kB/{name}_hugepages")
        for name in ("free", "nr")
    )
    assert free == total
    with engine_on(guest, CARDS[1], CARDS[3]) as engine:
        (counts,) = carried(engine, stream(0, 0, 1))["streams"]
        assert {name: counts[name] for name in CLEAN} == CLEAN
        engine.finish()


@only_igb
def test_virtual_functions_are_made_bound_and_used(guest: NicGuest) -> None:
    """Each of a card that the kernel keeps, and that `bind` would now refuse."""
    functions = []
    for card in (CARDS[1], CARDS[3]):
        device = f"/sys/bus/pci/devices/{card}"
        guest.must(f"echo >{device}/driver_override; echo {card} >{device}/driver/unbind")
        guest.must(f"echo {card} >/sys/bus/pci/drivers_probe; echo 2 >{device}/sriov_numvfs")
        guest.must(f"ip link set $(ls {device}/net) up")
        function = guest.must(f"basename $(readlink {device}/virtfn0)").strip()
        functions.append(function)
    bound = guest.plimsoll(f"ports bind {functions[0]}")
    assert f"{functions[0]} is bound to vfio-pci (before: no driver)" in bound.said
    guest.bind_by_hand(functions[1])
    refused = guest.plimsoll(f"ports bind {CARDS[1]}")
    assert refused.status == 3
    assert "it has 2 virtual functions, which would vanish" in refused.said
    with engine_on(guest, *functions) as engine:
        ports = engine.messages[-1]["ports"]
        assert {port["driver"] for port in ports} == {"net_e1000_igb_vf"}
        # A virtual function gets what is sent to it, and may send only as itself.
        macs = [bytes.fromhex(port["mac"].replace(":", "")) for port in ports]
        frames = [macs[1 - n] + macs[n] + FRAME[12:] for n in (0, 1)]
        streams = [stream(n, n, 1 - n, frames=[frames[n].hex()]) for n in (0, 1)]
        for counts in carried(engine, *streams)["streams"]:
            assert {name: counts[name] for name in CLEAN} == CLEAN
        engine.finish()
    for card in (CARDS[1], CARDS[3]):
        guest.must(f"echo 0 >/sys/bus/pci/devices/{card}/sriov_numvfs")
    guest.bind_by_hand(CARDS[1], CARDS[3])


@only_igb
def test_stamps_by_the_port_are_stated_as_the_driver_has_them(guest: NicGuest) -> None:
    """DPDK's igb offers no stamp of every received frame, which `stamps: hardware` needs."""
    with engine_on(guest, CARDS[1], CARDS[3]) as engine:
        for port in engine.messages[-1]["ports"]:
            assert (port["rx_stamps"], port["tx_stamps"]) == (False, True)
        engine.finish()
    with starting_engine(guest) as engine:
        worker = {"cpu": WORKER_CPU, "tx": [[0, 0]], "rx": [[0, 0]]}
        port = {"devargs": CARDS[1], "stamps": "hardware"}
        error = engine.ask_in_vain(open_request(port, workers=[worker]))
        assert error["where"] == "ports[0].stamps"
        assert error["message"] == "driver net_e1000_igb has no hardware stamps"
