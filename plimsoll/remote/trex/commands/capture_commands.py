"""TRex's commands about captures, which are one method with several."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from plimsoll.remote.trex.commands.parameters import RequestParameters
from plimsoll.remote.trex.messages.json_rpc import BadParameters, MethodRefused
from plimsoll.remote.trex.session.captures import (
    MAX_PACKETS,
    CapturedPacket,
    CaptureMode,
    StlCapture,
    read_filter,
)
from plimsoll.remote.trex.session.trex_session import TrexSession

# Of the largest frames they are 13 MB in an answer; clients ask for 50.
_MAX_FETCHED = 1000
_NS_PER_S = 1e9


def capture(session: TrexSession, params: RequestParameters) -> Any:
    """Start, stop, fetch from, remove captures, or ask which there are."""
    command = params.text("command")
    if command not in _COMMANDS:
        raise BadParameters(f"field 'command' is not one of {', '.join(_COMMANDS)}")
    return _COMMANDS[command](session, params)


def _start(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    if params.integers("tx"):
        raise MethodRefused("capture start: what ports send is not captured; give rx ports alone")
    if params.text("endpoint", ""):
        raise MethodRefused("capture start: endpoints are not written to; fetch the packets")
    limit = params.integer("limit")
    if not 1 <= limit <= MAX_PACKETS:
        raise BadParameters(f"field 'limit' is not from 1 to {MAX_PACKETS}")
    ports = [session.port(number).number for number in params.integers("rx")]
    selected = read_filter(params.text("filter", ""))
    started = session.captures.start(ports, limit, _mode(params), selected)
    return {"capture_id": started.number, "start_ts": _begin_s(started)}


def _mode(params: RequestParameters) -> CaptureMode:
    mode = params.text("mode")
    if mode == "fixed":
        return "fixed"
    if mode == "cyclic":
        return "cyclic"
    raise BadParameters("field 'mode' is neither fixed nor cyclic")


def _stop(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    stopped = session.captures.stop(params.integer("capture_id"))
    return {"pkt_count": len(stopped.packets), "endpoint": ""}


def _fetch(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    most = min(params.integer("pkt_limit"), _MAX_FETCHED)
    snap_bytes = params.integer("snaplen", 0)
    found, packets = session.captures.fetch(params.integer("capture_id"), max(0, most))
    return {
        "pkts": [_packet(found, packet, snap_bytes) for packet in packets],
        "pending": len(found.packets),
        "start_ts": _begin_s(found),
    }


def _remove(session: TrexSession, params: RequestParameters) -> dict[str, Any]:
    session.captures.remove(params.integer("capture_id"))
    return {}


def _status(session: TrexSession, params: RequestParameters) -> list[dict[str, Any]]:
    return [_capture(each) for each in session.captures.all()]


_COMMANDS: dict[str, Callable[[TrexSession, RequestParameters], Any]] = {
    "start": _start,
    "stop": _stop,
    "fetch": _fetch,
    "remove": _remove,
    "status": _status,
}


def _begin_s(known: StlCapture) -> float:
    return known.begin_unix_ns / _NS_PER_S


def _packet(known: StlCapture, packet: CapturedPacket, snap_bytes: int) -> dict[str, Any]:
    """`snap_bytes` of it, 0 for all.

    Clients write its time since the capture's begin, which may not be negative: where the wall
    clock was set back in between, it is 0.
    """
    frame = packet.frame
    data = frame.data[:snap_bytes] if snap_bytes > 0 else frame.data
    return {
        "port": packet.port,
        "origin": "RX",
        "index": packet.index,
        "ts": max(frame.unix_ns, known.begin_unix_ns) / _NS_PER_S,
        "wirelen": frame.length,
        "binary": base64.b64encode(data).decode(),
    }


def _capture(known: StlCapture) -> dict[str, Any]:
    return {
        "id": known.number,
        "state": "ACTIVE" if known.active else "STOPPED",
        "matched": known.matched,
        "fetched": known.fetched,
        "count": len(known.packets),
        "limit": known.limit,
        "bytes": sum(packet.frame.length for packet in known.packets),
        "mode": known.mode,
        "filter": {
            "tx": 0,
            "rx": sum(1 << port for port in known.ports),
            "bpf": known.selected.text,
        },
    }
