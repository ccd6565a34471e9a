"""Configurations as snappi writes them, read by us; frames as the engine makes them."""

from collections.abc import Iterator
from typing import Any

import snappi
from scapy.all import Ether

from plimsoll.remote.otg.flows.ends import Tester
from plimsoll.remote.otg.flows.flow import Flow
from plimsoll.remote.otg.model.published import parse_json
from plimsoll.remote.otg.session.configuration import Configuration, read_configuration
from plimsoll.traffic.plan import FieldWriter, StreamPlan

TESTER = Tester(2, ((0, 1), (1, 0)))
GIGABIT = Tester(2, ((0, 1), (1, 0)), line_rate_bps=1e9)


def two_ports() -> Any:
    """A configuration with ports p1 and p2."""
    config = snappi.Config()
    config.ports.port(name="p1", location="0").port(name="p2", location="1")
    return config


def one_flow(config: Any, name: str = "f1", *, size: int | None = None) -> Any:
    """A flow from p1 to p2 in it."""
    flow = config.flows.add(name=name)
    flow.tx_rx.port.tx_name = "p1"
    flow.tx_rx.port.rx_names = ["p2"]
    if size is not None:
        flow.size.fixed = size
    return flow


def read(config: Any, tester: Tester = TESTER) -> Configuration:
    """The configuration, sent as JSON."""
    return read_configuration(parse_json("Config", config.serialize().encode()), tester)


def only_flow(config: Any, tester: Tester = TESTER) -> Flow:
    """Its only flow."""
    (flow,) = read(config, tester).flows.values()
    return flow


def packets(plan: StreamPlan, count: int) -> list[Any]:
    """The first frames, dissected by Scapy. The signature is left zero."""
    return [Ether(frame) for frame in frames(plan, count)]


def frames(plan: StreamPlan, count: int) -> Iterator[bytes]:
    """The first frames as the engine's protocol says that they are made, checksums included."""
    order = plan.order or range(len(plan.frames))
    for number in range(count):
        frame = bytearray(plan.frames[order[number % len(order)]])
        for writer in plan.fields:
            _write(frame, writer, number)
        yield bytes(frame)


def _write(frame: bytearray, writer: FieldWriter, number: int) -> None:
    span = slice(writer.offset, writer.offset + writer.width)
    old = int.from_bytes(frame[span])
    mask = writer.mask if writer.mask is not None else (1 << 8 * writer.width) - 1
    shift = (mask & -mask).bit_length() - 1
    index = number % writer.count
    if writer.kind == "list":
        value = writer.values[index]
    else:
        value = ((old & mask) >> shift) + index * writer.step
    new = (old & ~mask) | ((value << shift) & mask)
    before = bytes(frame)
    frame[span] = new.to_bytes(writer.width)
    for fix in writer.fixes:
        _update_checksum(frame, before, fix, writer)


def _update_checksum(frame: bytearray, before: bytes, fix: int, writer: FieldWriter) -> None:
    """RFC 1624: HC' = ~(~HC + ~m + m'), over the bytes that changed."""
    total = 0xFFFF - int.from_bytes(before[fix : fix + 2])
    for at in range(writer.offset, writer.offset + writer.width):
        weight = 256 if (at - fix) % 2 == 0 else 1
        total += (frame[at] - before[at]) * weight
    frame[fix : fix + 2] = (0xFFFF - total % 0xFFFF).to_bytes(2)
