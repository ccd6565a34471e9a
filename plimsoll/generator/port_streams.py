"""Ports of generators that count by port: one stream out of each, one into it, and their links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from plimsoll.errors import InputError, MachineError
from plimsoll.generator.interface import GeneratorRefused, PortInfo
from plimsoll.generator.sampled_trial import PortTotals, StreamTotals, Totals
from plimsoll.host.processes.child import wait_until
from plimsoll.traffic.plan import StreamPlan

_ETHERTYPE, _IPV4, _PROTOCOL, _UDP = slice(12, 14), b"\x08\x00", 23, 17


def refusal(stream: StreamPlan, why: str, generator: str) -> InputError:
    """The error that a generator does not send such a stream."""
    return InputError(
        f"stream {stream.name} {why} ({generator})",
        where="profile.streams",
        remedy="change it, or use another generator",
    )


@contextmanager
def refused_in_trials() -> Iterator[None]:
    """Raise GeneratorRefused for what is wrong with a trial's streams."""
    try:
        yield
    except InputError as error:
        raise GeneratorRefused(error.message, where="generator", remedy=error.remedy) from None


def check_one_a_port(streams: tuple[StreamPlan, ...], generator: str) -> None:
    """Raise InputError where a port's counters would not be one stream's."""
    for way in ("tx_port", "rx_port"):
        ports = [getattr(each, way) for each in streams]
        if len(set(ports)) < len(ports):
            raise InputError(
                f"{generator} counts frames by port, so each port sends and receives one stream; "
                f"{', '.join(each.name for each in streams)} share ports",
                where="profile.streams",
                remedy="leave one stream a direction, or use another generator",
            )


def check_plain(stream: StreamPlan, generator: str) -> None:
    """Raise InputError for what nothing but Plimsoll's own engine sends."""
    lacking = {
        "a schedule": not stream.schedule.always,
        "frames of several sizes or a capture": len(stream.frames) > 1,
        "a number of frames": stream.frame_count is not None,
    }
    for what, present in lacking.items():
        if present:
            raise InputError(
                f"stream {stream.name} has {what}, which {generator} lacks",
                where="profile.streams",
                remedy="leave it out, or use another generator",
            )


def check_udp_over_ipv4(stream: StreamPlan, generator: str) -> None:
    """Raise InputError for any other packets of a stream whose frames are all alike."""
    (frame,) = stream.frames
    if frame[_ETHERTYPE] != _IPV4 or frame[_PROTOCOL] != _UDP:
        raise InputError(
            f"stream {stream.name} is not UDP over IPv4 without tags, which is all that "
            f"{generator} sends",
            where="profile.streams",
            remedy="use such a stream, or another generator",
        )


def check_steps(stream: StreamPlan, generator: str) -> None:
    """Raise InputError for fields that change otherwise than by a step up with every frame."""
    for field in stream.fields:
        plain = field.kind == "increment" and field.mask is None and field.every == 1
        if not plain or field.churn or field.step < 0:
            raise InputError(
                f"stream {stream.name} varies bytes {field.offset} and on otherwise than by a step "
                f"up with every frame, which is all that {generator} does",
                where="profile.streams",
                remedy="vary them so, or use another generator",
            )


def totals_by_port(
    streams: tuple[StreamPlan, ...],
    sent: Mapping[int, int],
    received: Mapping[int, int],
    ports: Mapping[int, PortTotals],
) -> Totals:
    """Each stream's totals are those of its ports."""
    return Totals(
        {
            each.stream: StreamTotals(sent=sent[each.tx_port], received=received[each.rx_port])
            for each in streams
        },
        ports,
    )


_INTERFACE = re.compile(r"net_af_(?:packet|xdp)\d*,(?:.*,)?iface=([^,]+)")


def interface_of(devargs: str) -> str:
    """The name of a port's interface. Raises InputError where it has none."""
    found = _INTERFACE.match(devargs)
    if found is None:
        raise InputError(
            f"{devargs} is not an interface of the kernel",
            where="generator.kind",
            remedy="use a lab behind interfaces (docs/duts.md), or another generator",
        )
    return found[1]


_LOOK_EVERY_S = 0.05


def linked_ports(look: Callable[[], tuple[PortInfo, ...]], wait_s: float) -> tuple[PortInfo, ...]:
    """The ports as `look` sees them once all have links. Raises MachineError after `wait_s`."""
    ports: tuple[PortInfo, ...] = ()

    def are_up() -> bool:
        nonlocal ports
        ports = look()
        return all(port.link_up for port in ports)

    if wait_until(are_up, wait_s, every_s=_LOOK_EVERY_S):
        return ports
    down = ", ".join(port.devargs for port in ports if not port.link_up)
    raise MachineError(
        f"{down} still without link after {wait_s:g} s",
        where="generator",
        remedy="check that the DUT runs and opened its end",
    )
