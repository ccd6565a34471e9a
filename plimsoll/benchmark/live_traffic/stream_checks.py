"""Streams of live traffic, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Collection

from plimsoll.benchmark.live_traffic.known_stream import KnownStream
from plimsoll.errors import InputError
from plimsoll.generator.generator_plan import Capabilities
from plimsoll.search.text.wire import FCS_BYTES
from plimsoll.text.units import format_pps
from plimsoll.traffic.plan import StreamPlan

_MOST_NUMBER = 65535
_SMALLEST_FRAME_SIZE = 64


def check_number(plan: StreamPlan, where: str, taken: Collection[int]) -> None:
    """Raise InputError for a number that cannot be, or is taken."""
    if not 0 <= plan.stream <= _MOST_NUMBER or plan.stream in taken:
        raise InputError(
            f"{plan.stream} cannot be its number",
            where=f"{where}.stream",
            remedy=f"give one from 0 to {_MOST_NUMBER} that no other stream has",
        )


def check_ports(plan: StreamPlan, where: str, port_count: int) -> None:
    """Raise InputError for a port that there is not."""
    for name, port in (("tx_port", plan.tx_port), ("rx_port", plan.rx_port)):
        check_port(port, f"{where}.{name}", port_count)


def check_port(port: int, where: str, port_count: int) -> None:
    """Raise InputError for a port that there is not."""
    if not 0 <= port < port_count:
        raise InputError(
            f"there is no port {port}",
            where=where,
            remedy=f"name one from 0 to {port_count - 1}",
        )


def check_frames(plan: StreamPlan, where: str, largest_frame_size: int) -> None:
    """Raise InputError for frames that are too short or too long, in bytes with FCS."""
    for index, frame in enumerate(plan.frames):
        if not _SMALLEST_FRAME_SIZE <= len(frame) + FCS_BYTES <= largest_frame_size:
            raise InputError(
                f"{len(frame) + FCS_BYTES} bytes with FCS",
                where=f"{where}.frames[{index}]",
                remedy=f"give {_SMALLEST_FRAME_SIZE} to {largest_frame_size} bytes with FCS, "
                "for which the ports were opened",
            )


def check_pacing(plan: StreamPlan, where: str, capabilities: Capabilities) -> None:
    """Raise InputError for a pacing or a rate that the generator does not have."""
    if plan.pacing.kind not in capabilities.pacings:
        raise InputError(
            f"the generator has no {plan.pacing.kind}",
            where=f"{where}.pacing",
            remedy=f"use one of {', '.join(sorted(capabilities.pacings))}",
        )
    known = KnownStream(plan)
    if known.rated:
        check_rate(known, plan.rate_pps, where, capabilities)
    elif plan.rate_pps is not None:
        raise InputError(
            "back-to-back streams have no rate", where=f"{where}.rate_pps", remedy="leave it out"
        )


def check_rate(
    known: KnownStream, rate_pps: float | None, where: str, capabilities: Capabilities
) -> None:
    """Raise InputError for a rate that the stream cannot have; 0 pauses it."""
    if not known.rated:
        raise InputError(
            f"a stream that is sent {known.plan.pacing.kind} has no rate",
            where=where,
            remedy="stop it, or use another pacing",
        )
    least, most = capabilities.least_pps, capabilities.most_pps
    if rate_pps is None or (rate_pps != 0 and not least <= rate_pps <= most):
        said = "no rate" if rate_pps is None else format_pps(rate_pps)
        raise InputError(
            f"{said} cannot be kept",
            where=f"{where}.rate_pps",
            remedy=f"give 0, or {format_pps(least)} to {format_pps(most)}",
        )
