"""The engine on network cards that QEMU emulates, by DPDK's own drivers on vfio-pci.

What is shown is that it works, never how fast. Skipped where the parts are missing; `make vm-nics`
fetches them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.integration.engine.port_bed import CLEAN, MARKS
from tests.integration.engine.requests import FRAME, Request, trial_request
from tests.integration.engine.session import EngineSession, Message
from tests.integration.vm.guest import CannotBoot
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
def engine_on(guest: NicGuest, *cards: int, queues: int = 1) -> Iterator[EngineSession]:
    """An engine in the guest whose ports are these cards, one worker for all queues."""
    within = (sys.executable, "-m", "tests.integration.vm.in_guest", str(guest.folder))
    with EngineSession(guest.folder, within=within, hangs_after_s=300.0) as engine:
        every = [[port, queue] for port in range(len(cards)) for queue in range(queues)]
        engine.ask(
            {
                "id": 1,
                "request": "open",
                "memory": {"huge": True, "megabytes": 64 + 80 * len(every)},
                "main_cpus": [0],
                "workers": [{"cpu": WORKER_CPU, "tx": every, "rx": every}],
                "ports": [{"devargs": CARDS[card], "descriptors": 512} for card in cards],
                "link_wait_s": 60,
            }
        )
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
    with engine_on(guest, 1, 3) as engine:
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
    with engine_on(guest, 1, 3) as engine:
        endless = stream(0, 0, 1)
        del endless["frame_count"]
        engine.send(trial_request(endless, duration_s=60.0, drain_s=1.0, interval_s=0.5))
        engine.next_interval()
        guest.set_link(3, up=False)
        try:
            reply = engine.reply_to(2)
        finally:
            guest.set_link(3, up=True)
        assert reply["ended_by"] == "link_down"
        assert [port["link_up"] for port in reply["ports"]] == [True, False]
        engine.finish()
