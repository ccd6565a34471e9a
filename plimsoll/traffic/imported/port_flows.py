"""The ports that bench-trafficgen varies: fewer than its flows, where these are many."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.errors import InputError

_MOST_PORT = 65535
# A stream of 1000 flows and more has so many ports, in turns.
_FEW = 1000
_DIVISORS = (1000, 1024)


@dataclass(frozen=True, slots=True)
class PortFlows:
    """`count` ports from `start` on, of which the first frame has number `first`."""

    start: int
    count: int
    first: int


def port_flows(port: int, flows: int) -> PortFlows:
    """The ports of a stream of so many flows whose first frame has `port`.

    Raises InputError, without a place, for a number of flows that trafficgen refuses.
    """
    count = flows if flows < _FEW else next((n for n in _DIVISORS if flows % n == 0), None)
    if count is None:
        raise InputError(
            f"ports of {flows} flows, which trafficgen refuses",
            remedy="use fewer than 1000, or a multiple of 1000 or 1024",
        )
    start = _MOST_PORT - count + 1 if port + count > _MOST_PORT else port
    return PortFlows(start, count, port - start)
