"""A TRex, driven by its own client library: a program of its own, run by `client.py`.

It imports nothing of Plimsoll: the library brings modules of its own, which are to meet none of
ours. Requests and answers are lines of JSON on stdin and stdout; what the library prints
goes to stderr.

    driver.py FOLDER-OF-THE-LIBRARY
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from typing import Any, TextIO

# Longer than a receiver that sleeps, or a CPU that is shared, keeps frames waiting.
_ON_THEIR_WAY_S = 0.05
# How long a server whose CPUs are polled may take to answer.
_PATIENCE_S = 30


class Driver:
    """One connection to a TRex."""

    def __init__(self, stl: Any) -> None:
        self._stl = stl
        self._client: Any = None
        self._ports: list[int] = []
        self._groups: list[int] = []

    def connect(
        self, host: str, sync_port: int, async_port: int, ports: int, take: bool
    ) -> dict[str, Any]:
        """Connect, acquire and clear the first `ports` ports; what they and the server are."""
        self._client = self._stl.STLClient(
            username="plimsoll",
            server=host,
            sync_port=sync_port,
            async_port=async_port,
            verbose_level="error",
            sync_timeout=_PATIENCE_S,
            async_timeout=_PATIENCE_S,
        )
        self._client.connect()
        there = self._client.get_all_ports()
        self._ports = there[:ports]
        if len(self._ports) < ports:
            raise ValueError(f"TRex has {len(there)} ports, and {ports} are needed")
        self._client.acquire(ports=self._ports, force=take)
        self._client.remove_all_streams(ports=self._ports)
        infos = self._client.get_port_info(ports=self._ports)
        return {
            "version": self._client.get_server_version().get("version", ""),
            "ports": [_port(info) for info in infos],
        }

    def prepare(self, streams: list[dict[str, Any]]) -> dict[str, Any]:
        """Replace all streams, and count from nothing."""
        self._client.stop(ports=self._ports)
        self._client.remove_all_streams(ports=self._ports)
        for stream in streams:
            self._client.add_streams([self._stream(stream)], ports=[stream["port"]])
        self._groups = sorted({stream["group"] for stream in streams})
        self._client.clear_stats(ports=self._ports)
        return {}

    def start(self, duration_s: float, ports: list[int]) -> dict[str, Any]:
        """Send for so long."""
        self._client.start(ports=ports, mult="1", duration=duration_s, force=True)
        return {}

    def stats(self) -> dict[str, Any]:
        """Counters of the ports, and of each group as TRex names them; and what `active` says.

        Those of what was sent are older than those of what was received, by more than frames are
        on their way, so that none of these looks lost.
        """
        sent = self._client.get_pgid_stats(self._groups).get("flow_stats", {})
        time.sleep(_ON_THEIR_WAY_S)
        ports = self._client.get_stats(ports=self._ports)
        groups = self._client.get_pgid_stats(self._groups)
        links = {
            info["index"]: info.get("link") for info in self._client.get_port_info(self._ports)
        }
        return {
            "ports": [
                {**ports[port], "number": number, "link": links.get(port)}
                for number, port in enumerate(self._ports)
            ],
            "flows": {
                group: {**each, "tx_pkts": sent[int(group)]["tx_pkts"]}
                for group, each in _by_group(groups.get("flow_stats", {})).items()
            },
            "latency": _by_group(groups.get("latency", {})),
            **self.active(),
        }

    def active(self) -> dict[str, Any]:
        """Whether one of the ports sends, and the time of that by the host's monotonic clock."""
        active = bool(self._client.is_traffic_active(ports=self._ports))
        return {"active": active, "at_s": time.monotonic()}

    def stop(self, settle_ms: int) -> dict[str, Any]:
        """Send no more; the counters of groups are kept for so long, and then frozen."""
        self._client.stop(ports=self._ports, rx_delay_ms=settle_ms)
        return {}

    def close(self) -> dict[str, Any]:
        """Leave the ports to others."""
        if self._client is not None:
            self._client.disconnect(stop_traffic=True, release_ports=True)
        return {}

    def _stream(self, given: dict[str, Any]) -> Any:
        stl = self._stl
        rate = {given["unit"]: given["rate"]}
        stats = stl.STLFlowLatencyStats if given["latency"] else stl.STLFlowStats
        program = [self._instruction(each) for each in given["program"]]
        packet = stl.STLPktBuilder(
            pkt_buffer=bytes.fromhex(given["frame"]),
            vm=stl.STLScVmRaw(program) if program else None,
            remove_fcs=False,
        )
        return stl.STLStream(
            packet=packet,
            mode=stl.STLTXCont(**rate),
            flow_stats=stats(pg_id=given["group"]),
            mac_src_override_by_pkt=True,
            mac_dst_override_mode=stl.STLStreamDstMAC_PKT,
        )

    def _instruction(self, given: dict[str, Any]) -> Any:
        arguments = {name: value for name, value in given.items() if name != "kind"}
        return getattr(self._stl, given["kind"])(**arguments)


def _port(info: dict[str, Any]) -> dict[str, Any]:
    return {
        "index": info.get("index"),
        "driver": info.get("driver"),
        "mac": info.get("hw_mac") or info.get("src_mac"),
        "speed_gbps": info.get("speed"),
        "link": info.get("link"),
        "description": info.get("description") or info.get("pci_addr"),
    }


def _by_group(stats: dict[Any, Any]) -> dict[str, Any]:
    """Of the groups alone: their numbers are keys among others, which are words."""
    return {str(group): each for group, each in stats.items() if isinstance(group, int)}


def serve(driver: Driver, requests: TextIO, answers: TextIO) -> None:
    """Answer each line until there are no more."""
    for line in requests:
        request = json.loads(line)
        do = getattr(driver, request.pop("do"))
        try:
            answer = {"ok": True, **do(**request)}
        except Exception as error:
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer, default=str) + "\n")
        answers.flush()


def main() -> None:
    """Take stdout for answers alone, and load the library."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path.insert(0, sys.argv[1])
    serve(Driver(importlib.import_module("trex.stl.api")), sys.stdin, answers)


if __name__ == "__main__":
    main()
