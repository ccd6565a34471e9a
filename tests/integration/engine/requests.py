"""Requests to the engine, with what most tests ask for as defaults."""

import os
from collections.abc import Sequence
from typing import Any

from tests.integration.engine.frames import udp_frame


def _cpus() -> list[int]:
    """This process's CPUs; of tests that run at the same time, each begins with another."""
    cpus = sorted(os.sched_getaffinity(0))
    first = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % len(cpus)
    return cpus[first:] + cpus[:first]


CPUS = _cpus()
FRAME = udp_frame(60)
# The destination address, which the IPv4 header's and the UDP checksum cover.
DESTINATION = {"offset": 30, "width": 4, "count": 1024, "fixes": [24, 40]}

Request = dict[str, Any]


def open_request(
    *devargs: str, cpu: int = CPUS[0], workers: Sequence[Request] = (), **changes: Any
) -> Request:
    """Ports in ordinary memory, all polled by one worker unless `workers` says otherwise."""
    queues = [[port, 0] for port in range(len(devargs))]
    return {
        "id": 1,
        "request": "open",
        "memory": {"huge": False, "megabytes": 32 + 80 * len(devargs)},
        "main_cpus": CPUS,
        "workers": list(workers) or [{"cpu": cpu, "tx": queues, "rx": queues}],
        "ports": [{"devargs": devarg} for devarg in devargs],
        **changes,
    }


def stream(number: int, rate_pps: float, **changes: Any) -> Request:
    """A load stream of 60-byte frames from port 0 back to port 0."""
    return {
        "stream": number,
        "role": "load",
        "tx_port": 0,
        "rx_port": 0,
        "rate_pps": rate_pps,
        "frames": [FRAME.hex()],
        **changes,
    }


def trial_request(*streams: Request, duration_s: float = 0.1, **changes: Any) -> Request:
    """A short trial that never skips a frame, however busy the machine is."""
    return {
        "id": 2,
        "request": "trial",
        "mark": 1000,
        "duration_s": duration_s,
        "drain_s": 0.2,
        "catch_up_us": 1e6,
        "streams": list(streams),
        **changes,
    }
