"""Chains of a switch and guests: which ports are joined, and every hop that frames pass."""

import pytest
from pydantic import ValidationError

from plimsoll.dut.guest.chain import chain_hops, joined, sharing_note, switch_ports
from plimsoll.dut.guest.guest import GuestCounts
from plimsoll.dut.labs.ovs_dpdk import OvsDpdkSettings
from plimsoll.dut.needs import LabNeeds
from plimsoll.dut.sight import Hop, grown
from tests.worded.says import Says


def test_the_testers_ports_are_the_ends_of_every_chain() -> None:
    assert switch_ports("p2p") == ("port0", "port1")
    assert list(joined(switch_ports("pvp"))) == [("port0", "guest0a"), ("guest0b", "port1")]
    assert list(joined(switch_ports("pvvp"))) == [
        ("port0", "guest0a"),
        ("guest0b", "guest1a"),
        ("guest1b", "port1"),
    ]


def test_hops_follow_the_frames_in_both_directions(says: Says) -> None:
    ports = switch_ports("pvp")
    into = {"port0": 100, "guest0b": 97, "port1": 50, "guest0a": 48}
    out_of = {"guest0a": 99, "port1": 96, "guest0b": 49, "port0": 47}
    # The guest's port a received 98 and sent 480, its port b received 490 and sent 970.
    guests = [(GuestCounts(98, 480), GuestCounts(490, 970))]
    there = [hop for hop in chain_hops(ports, into, out_of, guests) if hop.direction == 0]
    back = [hop for hop in chain_hops(ports, into, out_of, guests) if hop.direction == 1]
    assert [(hop.place, hop.frames) for hop in there] == [
        (says("port0"), 100),
        (says("guest0a"), 99),
        ("guest0, in", 98),
        ("guest0, out", 970),
        (says("guest0b"), 97),
        (says("port1"), 96),
    ]
    assert [(hop.place, hop.frames) for hop in back] == [
        (says("port1"), 50),
        (says("guest0b"), 49),
        ("guest0, in", 490),
        ("guest0, out", 480),
        (says("guest0a"), 48),
        (says("port0"), 47),
    ]


def test_two_guests_are_passed_in_their_order_and_back_in_the_other() -> None:
    ports = switch_ports("pvvp")
    counts = dict.fromkeys(ports, 1)
    guests = [(GuestCounts(1, 1), GuestCounts(1, 1))] * 2
    places = [
        [
            hop.place.split(",")[0]
            for hop in chain_hops(ports, counts, counts, guests)
            if hop.direction == direction and hop.place.endswith("in")
        ]
        for direction in (0, 1)
    ]
    assert places == [
        [
            "port0 of the switch",
            "guest0",
            "guest0b of the switch",
            "guest1",
            "guest1b of the switch",
        ],
        [
            "port1 of the switch",
            "guest1",
            "guest1a of the switch",
            "guest0",
            "guest0a of the switch",
        ],
    ]


def test_what_grew_is_of_the_trial_alone() -> None:
    assert grown((Hop(0, "in", 7),), (Hop(0, "in", 17),)) == (Hop(0, "in", 10),)


def test_loops_that_share_a_cpu_are_said_to(says: Says) -> None:
    assert sharing_note((1,)) is None
    assert sharing_note((1, 2, 3)) is None
    said = sharing_note((1, 1, 1))
    assert said is not None
    assert said == says("3", "1")
    assert said.endswith("4 CPUs would do")


def test_a_lab_says_which_settings_are_functional_on_few_cpus(
    monkeypatch: pytest.MonkeyPatch,
    says: Says,
) -> None:
    needs = LabNeeds(loops_of_settings=(("chain: pvp", 2), ("chain: pvvp", 3)))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2})
    (said,) = needs.sharing_settings()
    assert said == says("chain", "pvvp", "3")


def test_cpus_of_loops_are_claimed_once_each() -> None:
    shared = OvsDpdkSettings(cpu=3, chain="pvvp")
    assert shared.polled_cpus == (("lab.cpu", 3),)
    own = OvsDpdkSettings(pmd_cpus=(2, 5), chain="pvvp", guest_cpus=(7, 6))
    assert own.polled_cpus == (
        ("lab.pmd_cpus", 2),
        ("lab.pmd_cpus", 5),
        ("lab.guest_cpus", 6),
        ("lab.guest_cpus", 7),
    )
    assert own.megabytes > OvsDpdkSettings().megabytes + 4 * 64


@pytest.mark.parametrize(
    ("changes", "forwarding", "polled"),
    [
        ({}, "io", (("lab.cpu", 3), ("lab.guest_cpus", 4))),
        ({"guest": "vm", "guest_image": "x"}, "bridge", (("lab.cpu", 3),)),
        (
            {"guest": "vm", "guest_image": "x", "guest_forwarding": "io"},
            "io",
            (("lab.cpu", 3), ("lab.guest_cpus", 4)),
        ),
    ],
)
def test_a_guest_polls_where_testpmd_forwards_in_it(
    changes: dict[str, object], forwarding: str, polled: tuple[tuple[str, int], ...]
) -> None:
    chain = {"cpu": 3, "chain": "pvp", "guest_cpus": [4]}
    settings = OvsDpdkSettings.model_validate({**chain, **changes})
    assert settings.forwarding == forwarding
    assert settings.polled_cpus == polled


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"chain": "pvp", "rules": "normal"}, ("push_vlan",)),
        ({"chain": "pvp", "push_vlan": [7]}, ("push_vlan",)),
        ({"chain": "pvp", "rules": 100}, ("push_vlan",)),
        ({"chain": "pvvp", "guest_cpus": [1]}, ("1", "guest_cpus", "2")),
        ({"guest_cpus": [1]}, ("1", "guest_cpus", "0")),
        ({"chain": "pvp", "guest": "vm"}, ("guest: vm", "guest_image")),
        ({"chain": "pvp", "guest_image": "x"}, ("guest: vm", "guest_image")),
        ({"chain": "pvp", "guest_forwarding": "bridge"}, ("bridge",)),
        ({"pmd_cpus": [1, 1]}, ("pmd_cpus",)),
        ({"chain": "pvpvp"}, ("p2p", "pvp", "pvvp")),
    ],
)
def test_unsound_chains_are_refused(
    changes: dict[str, object], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(ValidationError) as caught:
        OvsDpdkSettings.model_validate(changes)
    assert caught.value == says(*facts)
