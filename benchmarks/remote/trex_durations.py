"""How much of a TRex client's time is not sending: what its rates are too low by.

`python -m benchmarks.remote.trex_durations`, from the repository's root, starts `plimsoll
trex-server` on the demo's lab, whose two polling loops take a CPU each, and has a client of our
own run ten trials of 10 s on both ports, as trafficgen's binary-search.py does: start one port,
then the other, then wait for the events that both have ended. Of each trial, in ms:

    start   from the client's first request to the first frame of the port that begins last, of
            which the server waits 30 on purpose, for the client to start its other port
    end     from the last frame to the answer that says so
    both    their sum; the aim is 20 ms more than those 30 on an idle machine of two CPUs, and
            never 200 (2 % of 10 s)

and the rate that the client computes, frames by its own clock, as a share of the intended one.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.unit.remote.trex.stl_json import stream_json
from tests.unit.remote.trex.trex_client import TrexClient, TrexSubscriber

_ROOT = Path(__file__).parents[2]
_READY = re.compile(r"requests on (\d+), events on (\d+)")
_FINISHED = 14
_PORTS = (0, 1)


@dataclass(frozen=True)
class Trial:
    """Times in ms; `share` is of the intended rate."""

    start_ms: float
    end_ms: float
    share: float

    @property
    def both_ms(self) -> float:
        """All that is not sending, and counts as the client's time."""
        return self.start_ms + self.end_ms


@contextmanager
def server(experiment: str) -> Iterator[tuple[int, int]]:
    """A server on free ports, which are returned."""
    program = Path(sys.executable).parent / "plimsoll"
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        process = subprocess.Popen(  # noqa: S603 - an argument vector, no shell
            [program, "serve", "trex", _ROOT / experiment, "--sync-port", "0", "--async-port", "0"],
            stderr=subprocess.PIPE,
            cwd=folder,
            text=True,
        )
        try:
            assert process.stderr is not None  # noqa: S101 - it is a pipe
            ready = next(filter(None, map(_READY.search, process.stderr)), None)
            if ready is None:
                raise SystemExit(f"the server ended with {process.wait()}")
            yield int(ready[1]), int(ready[2])
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate()


def run_trial(
    client: TrexClient, events: TrexSubscriber, rate_pps: float, duration_s: float
) -> Trial:
    """One trial on both ports."""
    mode = {"type": "continuous", "rate": {"type": "pps", "value": rate_pps}}
    for port in _PORTS:
        client.call("remove_all_streams", port_id=port)
        client.call("add_stream", port_id=port, stream_id=1, stream=stream_json(mode=mode))
    before = sum(client.call("get_port_stats", port_id=port)["opackets"] for port in _PORTS)
    multiplier = {"op": "abs", "type": "raw", "value": 1.0}
    requested_s = time.monotonic()
    begun = [
        client.call("start_traffic", port_id=port, mul=multiplier, duration=duration_s, force=True)[
            "begin_ts"
        ]
        for port in _PORTS
    ]
    ended = events.wait_for(_FINISHED, set(_PORTS), duration_s + 60)
    known_s = time.monotonic()
    after = sum(client.call("get_port_stats", port_id=port)["opackets"] for port in _PORTS)
    return Trial(
        (max(begun) - requested_s) * 1e3,
        (known_s - max(each["end_ts"] for each in ended.values())) * 1e3,
        (after - before) / (known_s - requested_s) / (len(_PORTS) * rate_pps),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--duration", type=float, default=10.0, help="in s")
    parser.add_argument("--rate", type=float, default=100_000, help="frames per second and port")
    parser.add_argument("--experiment", default="examples/demo.yaml")
    options = parser.parse_args(arguments)
    trials = []
    with server(options.experiment) as (sync_port, async_port):
        client = TrexClient(sync_port, 60)
        client.sync()
        for port in _PORTS:
            client.acquire(port)
        with closing(client), closing(TrexSubscriber(client, async_port)) as events:
            for number in range(1, options.trials + 1):
                trials.append(run_trial(client, events, options.rate, options.duration))
                print(f"{number:>3}  {_row(trials[-1])}  load {os.getloadavg()[0]:.1f}", flush=True)
    print("\n             min   median      max")
    for name in ("start_ms", "end_ms", "both_ms", "share"):
        values = [getattr(each, name) for each in trials]
        digits = 4 if name == "share" else 1
        figures = "".join(f"{each(values):9.{digits}f}" for each in (min, median, max))
        print(f"{name:>8}{figures}")


def _row(trial: Trial) -> str:
    return (
        f"start {trial.start_ms:7.1f} ms  end {trial.end_ms:7.1f} ms  both {trial.both_ms:7.1f} ms"
        f"  share of the rate {trial.share:.4f}"
    )


if __name__ == "__main__":
    main()
