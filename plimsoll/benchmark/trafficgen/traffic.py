"""What a binary-search.py command line sends: the streams of its profile, or of its options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from plimsoll.benchmark.trafficgen.command import TrafficgenCommand
from plimsoll.benchmark.trafficgen.options import PROFILE
from plimsoll.errors import InputError
from plimsoll.text.mistakes import describe_mistakes
from plimsoll.traffic.imported.conversion import LatencyProbes
from plimsoll.traffic.imported.trafficgen import load_trafficgen
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import StreamType

_VARIED = ("src_mac", "dst_mac", "src_ip", "dst_ip", "src_port", "dst_port")
# The lists with an entry for each direction, and the ends of a Stream that they give.
_ENDS = {"macs": "mac", "ips": "ip", "ports": "port"}
_NETWORK_BITS = 8


def traffic_of(command: TrafficgenCommand, profile_path: Path | None) -> Profile:
    """The streams that its traffic generator sends.

    `profile_path` stands for its --traffic-profile. Raises InputError for what Plimsoll
    cannot send.
    """
    if command.text("traffic-generator") == PROFILE:
        return _of_profile(command, profile_path)
    streams = list(_streams(command))
    try:
        return Profile.model_validate({"streams": streams})
    except ValidationError as error:
        raise describe_mistakes(error, Profile, "command line", lambda _: 1) from None


def _of_profile(command: TrafficgenCommand, profile_path: Path | None) -> Profile:
    path = profile_path or Path(command.text("traffic-profile"))
    if not path.name:
        raise InputError(
            "there is no profile", where="--traffic-profile", remedy="give it, or --profile"
        )
    probes = LatencyProbes(
        rate_pps=command.whole("latency-rate"),
        measured=command.whole("measure-latency") != 0,
    )
    if probes.measured and probes.rate_pps < 1:
        raise InputError(
            f"{probes.rate_pps} probes a second are none",
            where="--latency-rate",
            remedy="give at least 1, or --measure-latency 0",
        )
    name = command.text("traffic-profile-name") or None
    return load_trafficgen(path, name, probes, command.number("random-seed"))


def _streams(command: TrafficgenCommand) -> Iterator[dict[str, Any]]:
    """The load and the probe of each direction, or of both where these are alike."""
    for name, direction, ends in _directions(command):
        common: dict[str, Any] = {
            **_frames(command),
            **ends,
            "direction": direction,
            "stream_types": _types(command),
        }
        yield {"name": name, "role": "load", **common}
        if command.whole("measure-latency"):
            rate = f"{command.whole('latency-rate')}pps"
            probe = {"name": f"{name}-latency", "role": "latency", "rate": rate}
            yield {**probe, "taken_from": name, **common}


def _directions(command: TrafficgenCommand) -> Iterator[tuple[str, str, dict[str, Any]]]:
    direction_text = command.text("traffic-direction")
    lists = [
        f"{end}-{kind}" for kind in _ENDS for end in ("src", "dst") if command[f"{end}-{kind}"]
    ]
    if not lists and not command["vlan-ids"]:
        yield "load", direction_text, {}
        return
    ways = (
        ["unidirectional", "revunidirectional"]
        if direction_text == "bidirectional"
        else [direction_text]
    )
    for index, way in enumerate(ways):
        name = {"unidirectional": "forward", "revunidirectional": "reverse"}[way]
        yield name, way, _ends(command, lists, index, len(ways), reverse=name == "reverse")


def _ends(
    command: TrafficgenCommand, lists: list[str], index: int, count: int, *, reverse: bool
) -> dict[str, Any]:
    """The addresses of one direction; a Stream names its ends as of the forward one."""
    ends: dict[str, Any] = {}
    for name in lists:
        entry = _entry(command, name, index, count)
        end, _, kind = name.partition("-")
        shown_end = {"src": "dst", "dst": "src"}[end] if reverse else end
        ends[f"{shown_end}_{_ENDS[kind]}"] = _number(name, entry) if kind == "ports" else entry
    if command["vlan-ids"]:
        ends["vlan"] = _number("vlan-ids", _entry(command, "vlan-ids", index, count))
    if any("-ips" in name for name in lists):
        # Whatever network the addresses are of, the flows have room in it.
        ends["prefix"] = _NETWORK_BITS
    return ends


def _entry(command: TrafficgenCommand, name: str, index: int, count: int) -> str:
    entries = command.text(name).split(",")
    if len(entries) != count:
        raise InputError(
            f"has {len(entries)} entries where {count} are due, one for each sending port",
            where=f"--{name}",
            remedy="import one pair of devices, and give an entry for each direction",
        )
    return entries[index]


def _number(name: str, entry: str) -> int:
    if not (entry.isascii() and entry.isdigit() and len(entry) < 6):
        raise InputError(
            f"{entry!r} is not a number", where=f"--{name}", remedy="give whole numbers"
        )
    return int(entry)


def _frames(command: TrafficgenCommand) -> dict[str, Any]:
    if command.whole("use-protocol-flows"):
        raise InputError(
            "flows that differ in protocol are two streams here",
            where="--use-protocol-flows",
            remedy="leave it out, or write a traffic profile",
        )
    vary = [
        field for field in _VARIED if command.whole(f"use-{field.replace('_', '-')}-flows") != 0
    ]
    size = command.text("frame-size")
    frames: Mapping[str, Any] = (
        {"imix": "simple"}
        if size.lower() == "imix"
        else {"frame_size": _number("frame-size", size)}
    )
    return {
        **frames,
        "protocol": command.text("packet-protocol"),
        "flows": command.whole("num-flows") if vary else 1,
        "vary": vary,
    }


def _types(command: TrafficgenCommand) -> list[StreamType]:
    """Without a type of packet trafficgen sends no teaching packet."""
    types: list[StreamType] = ["measurement"]
    if command.flag("send-teaching-warmup") and command["teaching-warmup-packet-type"]:
        types.append("teaching_warmup")
    if command.flag("send-teaching-measurement") and command["teaching-measurement-packet-type"]:
        types.append("teaching_measurement")
    return types
