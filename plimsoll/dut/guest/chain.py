"""The chains of the plugfest: through the switch alone, or by way of one guest or two.

In the order in which frames of direction 0 pass them, the switch's ports are the tester's port
0, both ports of each guest, and the tester's port 1; the switch joins them by twos. With one
guest: port0-guest0a, guest0b-port1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from plimsoll.dut.guest.guest import GuestCounts
from plimsoll.dut.sight import Hop

# Physical to physical; physical to virtual and back; by two guests.
Chain = Literal["p2p", "pvp", "pvvp"]

_GUESTS = {"p2p": 0, "pvp": 1, "pvvp": 2}


def guests_of(chain: Chain) -> int:
    """How many guests are on the way."""
    return _GUESTS[chain]


def guest_ports(guest: int) -> tuple[str, str]:
    """What the switch's two ports to a guest are called."""
    return f"guest{guest}a", f"guest{guest}b"


def switch_ports(chain: Chain) -> tuple[str, ...]:
    """All ports of the switch, in the order of the chain; the tester's are its ends."""
    guests = (name for guest in range(guests_of(chain)) for name in guest_ports(guest))
    return ("port0", *guests, "port1")


def joined(ports: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The ports of the switch that it joins to each other."""
    return zip(ports[::2], ports[1::2], strict=True)


def chain_hops(
    ports: Sequence[str],
    into: Mapping[str, int],
    out_of: Mapping[str, int],
    guests: Sequence[tuple[GuestCounts, GuestCounts]],
) -> tuple[Hop, ...]:
    """Every point that frames pass, in both directions.

    `ports` are the switch's in the order of the chain, `into` and `out_of` the frames that it
    received and sent by each, `guests` what each guest counts at its two ports.
    """
    pairs = list(joined(ports))
    there = [
        hop
        for number, (one, other) in enumerate(pairs)
        for hop in (
            *_through_switch(0, one, other, into, out_of),
            *(_through_guest(0, number, *guests[number]) if number < len(guests) else ()),
        )
    ]
    back = [
        hop
        for number, (one, other) in reversed(list(enumerate(pairs)))
        for hop in (
            *_through_switch(1, other, one, into, out_of),
            *(_through_guest(1, number - 1, *reversed(guests[number - 1])) if number else ()),
        )
    ]
    return (*there, *back)


def _through_switch(
    direction: int, one: str, other: str, into: Mapping[str, int], out_of: Mapping[str, int]
) -> tuple[Hop, Hop]:
    return (
        Hop(direction, f"{one} of the switch, in", into[one]),
        Hop(direction, f"{other} of the switch, out", out_of[other]),
    )


def _through_guest(
    direction: int, guest: int, first: GuestCounts, second: GuestCounts
) -> tuple[Hop, Hop]:
    return (
        Hop(direction, f"guest{guest}, in", first.rx_frames),
        Hop(direction, f"guest{guest}, out", second.tx_frames),
    )


def sharing_note(loops: Sequence[int], tester_cpus: int = 1) -> str | None:
    """What it means that loops which forward share CPUs: `loops` has that of each of the DUT's.

    None where each has one of its own.
    """
    shared = sorted({cpu for cpu in loops if loops.count(cpu) > 1})
    if not shared:
        return None
    return (
        f"{len(loops)} forwarding loops of the DUT on {len(set(loops))} CPU"
        f"{'s' if len(set(loops)) > 1 else ''}: they take turns, so its rates and latencies are "
        f"those of this machine's want of CPUs and not of the switch; "
        f"{len(loops) + tester_cpus} CPUs would do"
    )
