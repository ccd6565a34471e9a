"""Trials of all kinds back to back in one engine: its memory, buffers and files must not grow.

Run it from the repository's root, or by `make soak-engine`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from leak_trials import PORTS, Request, trial_request

from plimsoll.generator.engine.program import EngineProgram

HOUR_S = 3600.0
# A trial lasts a second, but its CPU may be taken away for long.
PATIENCE_S = 300.0
STOPPED_TRIALS = 0.2
# Above the highest of the run's second quarter; the allocator comes and goes by less.
RSS_SLACK_KB = 2048
STOP_ID = 1_000_000_000


@dataclass(frozen=True)
class Usage:
    """What the engine held after a trial."""

    seconds: float
    trials: int
    rss_kb: int
    files: int
    threads: int
    buffers: int


def main() -> int:
    """Run for the time requested; 1 if something grew."""
    options = _options()
    usages: list[Usage] = []
    shown_s = -options.every
    print(f"{'seconds':>8} {'trials':>8} {'RSS kB':>8} {'files':>8} {'threads':>8} {'buffers':>8}")
    for usage in soak(options.seconds, options.cpu, options.seed):
        usages.append(usage)
        if usage.seconds - shown_s >= options.every:
            shown_s = usage.seconds
            _show(usage)
    _show(usages[-1])
    grown = growth(usages)
    print("\n".join(grown) or f"nothing grew in {len(usages)} trials")
    return 1 if grown else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=HOUR_S, help="how long (3600)")
    parser.add_argument("--every", type=float, default=60.0, help="seconds between lines (60)")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)), help="to poll on")
    parser.add_argument("--seed", type=int, default=1, help="of the trials' variety (1)")
    return parser.parse_args()


def soak(seconds: float, cpu: int, seed: int) -> Iterator[Usage]:
    """Trial after trial on loopback ports until the time is over; what the engine held."""
    random = Random(seed)  # noqa: S311 - variety, no secret
    begin_s, number = time.monotonic(), 1
    with TemporaryDirectory(prefix="plimsoll-leak-") as folder:
        environment = {**os.environ, "RUNTIME_DIRECTORY": folder}
        engine = EngineProgram(Path(folder) / "engine.log", environment)
        engine.receive(PATIENCE_S)
        _ask(engine, [_open_request(cpu)])
        while (elapsed_s := time.monotonic() - begin_s) < seconds:
            number += 1
            reply = _run_trial(engine, trial_request(number, random), random)
            yield _usage(engine.pid, elapsed_s, number - 1, reply)
        engine.close()


def growth(usages: Sequence[Usage]) -> list[str]:
    """What the last quarter held more of than the second; nothing where all is well.

    The first quarter is left out: the engine's structures grow to their largest trial.
    """
    quarter = len(usages) // 4
    before, after = usages[quarter : 2 * quarter], usages[-quarter:]
    allowed = {"rss_kb": RSS_SLACK_KB, "files": 0, "threads": 0, "buffers": 0}
    return [
        f"{name} grew from {most_before} to {most_after}"
        for name, slack in allowed.items()
        if (most_after := max(getattr(usage, name) for usage in after))
        > (most_before := max(getattr(usage, name) for usage in before)) + slack
    ]


def _open_request(cpu: int) -> Request:
    queues = [[port, 0] for port in range(PORTS)]
    return {
        "id": 1,
        "request": "open",
        "memory": {"huge": False, "megabytes": 320},
        "main_cpus": sorted(os.sched_getaffinity(0)),
        "workers": [{"cpu": cpu, "tx": queues, "rx": queues}],
        "ports": [{"devargs": f"net_ring{port}"} for port in range(PORTS)],
    }


def _run_trial(engine: EngineProgram, request: Request, random: Random) -> Request:
    """The trial's reply; some trials are stopped before their end."""
    if random.random() >= STOPPED_TRIALS:
        return _ask(engine, [request])
    stop = {"id": STOP_ID, "request": "stop"}
    return _ask(engine, [request, stop], random.uniform(0, request["duration_s"]))


def _ask(engine: EngineProgram, requests: Sequence[Request], pause_s: float = 0) -> Request:
    """Send requests and wait for their replies, which must be good; that to the first."""
    replies: dict[int, Request] = {}
    for request in requests:
        engine.send(request)
        time.sleep(pause_s)
    while len(replies) < len(requests):
        message = engine.receive(PATIENCE_S)
        if "ok" in message:
            if not message["ok"]:
                sys.exit(f"leak.py: the engine refuses: {message['error']}")
            replies[message["id"]] = message
    return replies[requests[0]["id"]]


def _usage(pid: int, seconds: float, trials: int, reply: Request) -> Usage:
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    facts = dict(line.split(":", 1) for line in status)
    return Usage(
        seconds=seconds,
        trials=trials,
        rss_kb=int(facts["VmRSS"].split()[0]),
        files=len(os.listdir(f"/proc/{pid}/fd")),
        threads=int(facts["Threads"]),
        buffers=sum(port["buffers_in_use"] for port in reply["ports"]),
    )


def _show(usage: Usage) -> None:
    print(
        f"{usage.seconds:8.0f} {usage.trials:8d} {usage.rss_kb:8d} {usage.files:8d}"
        f" {usage.threads:8d} {usage.buffers:8d}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
