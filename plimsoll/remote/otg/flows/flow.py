"""A flow of the configuration as streams that the engine sends."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.remote.otg.flows.ends import FlowEnds, Interface, OtgPort, Pair, Tester, read_ends
from plimsoll.remote.otg.flows.frames import FlowFrames, make_frames
from plimsoll.remote.otg.flows.headers import Header, read_headers
from plimsoll.remote.otg.flows.pattern import listed, number_of
from plimsoll.remote.otg.flows.sending import Sending, read_rate, read_sending
from plimsoll.remote.otg.model.given import Given
from plimsoll.search.text.wire import FCS_BYTES, l1_bits
from plimsoll.traffic.frames.field_values import ValueKind
from plimsoll.traffic.imix import LONGEST_SEQUENCE, SizeShare, sizes_in_order
from plimsoll.traffic.plan import StreamPlan

# Their draws repeat after so many frames: enough for any mean, and few templates.
_DRAWN = 1024
_SEED = 1
# OTG names these mixes and does not say what they are. Sizes and weights follow what IxNetwork
# calls by these names, to our knowledge: not held against it (docs/otg.md).
_PREDEFINED = {
    "imix": ((64, 7), (570, 4), (1518, 1)),
    "ipsec_imix": ((90, 5867), (92, 200), (594, 2366), (1418, 1567)),
    "ipv6_imix": ((60, 5867), (496, 200), (594, 2366), (1518, 1567)),
    "standard_imix": ((58, 5867), (62, 200), (594, 2366), (1518, 1567)),
    "tcp_imix": ((90, 5867), (92, 200), (594, 2366), (1518, 1567)),
}
_MAX_SIZES = 64
# So many frames pass at the most until weights repeat; finer ones are rounded to it.
_WEIGHT_SUM = 1000


@dataclass(frozen=True, slots=True)
class FlowMetrics:
    """What is reported of a flow."""

    enabled: bool
    loss: bool
    timestamps: bool
    latency: bool


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow: its streams, one for each pair of ports, numbered from 0, and how it ends."""

    name: str
    tx_name: str
    rx_name: str
    streams: tuple[StreamPlan, ...]
    sending: Sending
    metrics: FlowMetrics
    anywhere: bool
    warnings: tuple[str, ...]

    def sent_bps(self, port: int) -> float:
        """What it sends from that port of the tester, in bits a second of layer 1."""
        return sum(
            (plan.rate_pps or 0.0) * l1_bits(plan.mean_frame_size)
            for plan in self.streams
            if plan.tx_port == port
        )

    def numbered_from(self, first: int) -> Flow:
        """The same with other numbers."""
        streams = tuple(
            replace(plan, stream=first + index) for index, plan in enumerate(self.streams)
        )
        return replace(self, streams=streams)


def read_flow(
    given: Given, ports: Mapping[str, OtgPort], interfaces: Sequence[Interface], tester: Tester
) -> Flow:
    """A flow with its streams. Raises Refusal at the field that cannot be."""
    name = given.text("name")
    ends = read_ends(given.part("tx_rx"), ports, interfaces, tester)
    metrics = _metrics(given.part("metrics"))
    sizes = read_sizes(given.part("size"))
    made = [_frames(given, each, sizes, metrics) for each in ends]
    _check_sizes(given, made, tester)
    mean = StreamPlan(0, "", "load", 0, 0, made[0].templates, None, made[0].order).mean_frame_size
    speed_bps = ends[0].tx.speed_bps
    rate_pps = read_rate(given.part("rate"), mean, speed_bps)
    sending = read_sending(given.part("duration"), rate_pps, speed_bps)
    notes = dict.fromkeys(note for each in made for note in each.notes)
    if sending.note:
        notes[f"{given.path}.duration.burst: {sending.note}"] = None
    return Flow(
        name=name,
        tx_name=ends[0].tx.name,
        rx_name=ends[0].rx_name,
        streams=tuple(_streams(name, ends, made, sending)),
        sending=sending,
        metrics=metrics,
        anywhere=any(each.anywhere for each in ends),
        warnings=tuple(notes),
    )


def _check_sizes(given: Given, made: Iterable[FlowFrames], tester: Tester) -> None:
    """Raise Refusal for frames that are too long for the ports; shorter ones are lengthened."""
    most = tester.largest_frame_size
    for size in (len(frame) + FCS_BYTES for each in made for frame in each.templates):
        if size > most:
            raise given.refused(
                "size",
                f"{size} bytes with FCS, and the ports were opened for up to {most}",
                "send shorter ones, or start plimsoll serve otg with a larger --largest-frame",
            )


def _metrics(given: Given) -> FlowMetrics:
    latency = given.part("latency")
    latency.leave("mode")
    return FlowMetrics(
        given.flag("enable"), given.flag("loss"), given.flag("timestamps"), latency.flag("enable")
    )


def _frames(given: Given, ends: FlowEnds, sizes: Sequence[int], metrics: FlowMetrics) -> FlowFrames:
    headers = _addressed(given, ends.pairs) if ends.pairs else read_headers(given, given.path)
    return make_frames(headers, sizes, given.path, needs_times=metrics.enabled and metrics.latency)


def _streams(
    name: str, ends: Sequence[FlowEnds], made: Sequence[FlowFrames], sending: Sending
) -> list[StreamPlan]:
    """One for each pair of ports: they share the flow's frames by their pairs of devices."""
    weights = [max(1, len(each.pairs)) for each in ends]
    counts = _shared(sending.frame_count, weights)
    return [
        StreamPlan(
            stream=index,
            name=name,
            role="load",
            tx_port=each.tx.number,
            rx_port=each.rx_port,
            frames=frames.templates,
            order=frames.order,
            fields=frames.fields,
            rate_pps=sending.rate_pps * weight / sum(weights),
            pacing=sending.pacing,
            frame_count=count,
            short_signature=frames.short_signature,
        )
        for index, (each, frames, weight, count) in enumerate(
            zip(ends, made, weights, counts, strict=True)
        )
        if count != 0
    ]


def _shared(total: int | None, weights: Sequence[int]) -> list[int | None]:
    """Whole frames by weight, all of them."""
    if total is None:
        return [None] * len(weights)
    ends = [total * sum(weights[: index + 1]) // sum(weights) for index in range(len(weights))]
    return [end - begin for begin, end in zip([0, *ends], ends, strict=False)]


def _addressed(given: Given, pairs: Sequence[Pair]) -> list[Header]:
    """The flow's headers, with the devices' addresses where it says none."""
    if not given.has("packet"):
        given = _with_packet(given, pairs[0])
    headers = read_headers(given, given.path)
    ethernet = headers[0]
    _fill(ethernet, "src", [pair.source.interface.mac for pair in pairs], "mac")
    _fill(ethernet, "dst", [pair.next_hop_mac for pair in pairs], "mac")
    for header in headers[1:]:
        if header.layer in ("IP", "IPv6"):
            _fill_addresses(header, pairs)
            break
    return headers


def _fill_addresses(header: Header, pairs: Sequence[Pair]) -> None:
    version, kind = (4, "ipv4") if header.layer == "IP" else (6, "ipv6")
    for field in ("src", "dst"):
        ends = [pair.source if field == "src" else pair.destination for pair in pairs]
        addresses = [each.address for each in ends]
        if all(each is not None and each.version == version for each in addresses):
            _fill(header, field, [each.address for each in addresses if each], kind)  # type: ignore[arg-type]


def _fill(header: Header, field: str, values: Sequence[str], kind: ValueKind) -> None:
    """One value for each pair of devices, unless the flow has its own."""
    pattern = header.given.part(field)
    if header.given.has(field) and pattern.choice != "auto":
        return
    if len(set(values)) == 1:
        values = values[:1]
    header.put(field, listed(tuple(map(number_of, values))), pattern.path, kind)


def _with_packet(given: Given, pair: Pair) -> Given:
    """A flow between devices that says no headers has those of their interfaces."""
    packet: list[dict[str, object]] = [{"choice": "ethernet", "ethernet": {}}]
    packet += [
        {
            "choice": "vlan",
            "vlan": {
                "id": {"choice": "value", "value": tag},
                "priority": {"choice": "value", "value": priority},
            },
        }
        for tag, priority in pair.source.interface.vlans
    ]
    if pair.source.address is not None:
        name = f"ipv{pair.source.address.version}"
        packet.append({"choice": name, name: {}})
    return given.standing_for({"packet": packet})


# A flow's frame sizes in the order of sending, in bytes with FCS.
def read_sizes(given: Given) -> tuple[int, ...]:
    """The sizes as they follow each other, over and over. Raises Refusal."""
    match given.choice:
        case "fixed":
            return (given.whole("fixed"),)
        case "increment":
            return _counted(given.part("increment"))
        case "random":
            return _drawn(given.part("random"))
    return _weighted(given.part("weight_pairs"))


def _counted(given: Given) -> tuple[int, ...]:
    start, end, step = (given.whole(field) for field in ("start", "end", "step"))
    if start > end or step < 1:
        raise given.refused("", f"no sizes from {start} to {end} in steps of {step}")
    sizes = range(start, end + 1, step)
    if len(sizes) > LONGEST_SEQUENCE:
        raise given.refused("step", f"{len(sizes)} sizes", f"give at most {LONGEST_SEQUENCE}")
    return tuple(sizes)


def _drawn(given: Given) -> tuple[int, ...]:
    least, most = given.whole("min"), given.whole("max")
    if least > most:
        raise given.refused("min", f"{least} is more than max")
    # As in all traffic, chance is repeatable, and no secret.
    chance = random.Random(_SEED)  # noqa: S311
    return tuple(chance.randint(least, most) for _ in range(_DRAWN))


def _weighted(given: Given) -> tuple[int, ...]:
    if given.choice == "predefined":
        return _in_order(list(_PREDEFINED[given.text("predefined")]))
    pairs = given.parts("custom")
    if not 1 <= len(pairs) <= _MAX_SIZES:
        raise given.refused("custom", f"{len(pairs)} sizes", f"give 1 to {_MAX_SIZES}")
    weights = [pair.real("weight") for pair in pairs]
    for pair, weight in zip(pairs, weights, strict=True):
        if not 0 <= weight < float("inf"):
            raise pair.refused("weight", f"found {weight}", "give 0 or more")
    if sum(weights) <= 0:
        raise given.refused("custom", "all weights are 0")
    shares = [(pair.whole("size"), weight) for pair, weight in zip(pairs, weights, strict=True)]
    return _in_order([share for share in shares if share[1] > 0])


def _in_order(shares: list[tuple[int, int]] | list[tuple[int, float]]) -> tuple[int, ...]:
    total = sum(weight for _, weight in shares)
    exact = total <= _WEIGHT_SUM and all(float(weight).is_integer() for _, weight in shares)
    scale = 1.0 if exact else _WEIGHT_SUM / total
    return sizes_in_order(
        tuple(SizeShare(size=size, weight=max(1, round(weight * scale))) for size, weight in shares)
    )
