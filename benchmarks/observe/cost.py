"""What a reading of the observers costs in CPU time: each alone, all together, and peers.

`python -m benchmarks.observe.cost`, from the repository's root, prints two tables: of a host
made of files in memory (40 CPUs, 200 interrupts, 10 network devices; what the kernel takes
to write such files is not in it), and of this host as it is. Rounds are interleaved: all read
the same changes. The aim is 5 ms a reading for all observers, 0.5 % of a core at 1 s.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

from benchmarks.observe.forwarding_host import forwarding_host
from benchmarks.observe.naive_reader import NaiveReader
from benchmarks.observe.sadc import find_sadc, sadc_ms
from plimsoll.observe.agent.agent import Sampler
from plimsoll.observe.agent.registry import OBSERVERS
from plimsoll.observe.reading.observer import ObservedHost, Observer

_ALL = "all observers"
_NAIVE = "plain reader"
_SADC = "sadc -S ALL"

Read = Callable[[], object]
Costs = dict[str, list[float]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpus", type=int, default=40)
    parser.add_argument("--interrupts", type=int, default=200)
    parser.add_argument("--devices", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--interval", type=float, default=0.2, help="on this host, in s")
    parser.add_argument("--sadc-rounds", type=int, default=10)
    options = parser.parse_args(arguments)
    with forwarding_host(
        cpus=options.cpus, interrupts=options.interrupts, devices=options.devices
    ) as host:
        print(f"{options.cpus} CPUs, {options.interrupts} interrupts, in memory")
        print_table(measured(host.observed, options.rounds, host.advance))
    print(f"\nthis host, every {options.interval:g} s")
    costs = measured(ObservedHost(), options.rounds, lambda: time.sleep(options.interval))
    sadc = find_sadc()
    if sadc is None:
        print("sysstat is not installed: apt-get install sysstat")
    else:
        costs[_SADC] = [sadc_ms(sadc, options.sadc_rounds) for _ in range(3)]
    print_table(costs)


def measured(host: ObservedHost, rounds: int, wait: Callable[[], object]) -> Costs:
    """CPU time in ms of each reading, by who read; `wait` comes before every round."""
    readers = {each.name(): alone(each, host) for each in OBSERVERS}
    readers[_ALL] = all_observers(host)
    readers[_NAIVE] = NaiveReader(host.files.proc).read
    costs: Costs = {name: [] for name, read in readers.items() if read is not None}
    for _ in range(rounds):
        wait()
        for name, read in readers.items():
            if read is not None:
                costs[name].append(cost_ms(read))
    return costs


def alone(observer: type[Observer], host: ObservedHost) -> Read | None:
    """What reads it once; None where the host has not what it reads."""
    sampler = Sampler(host, [observer], "host", "trial-0001")
    for name, reason in sampler.missing.items():
        print(f"not read: {name}: {reason}")
        return None
    # The first reading tells every series, once a trial.
    sampler.tick()
    return sampler.tick


def all_observers(host: ObservedHost) -> Read:
    """What reads all observers; prints what the start of a period costs, once a trial."""
    before = time.thread_time_ns()
    sampler = Sampler(host, OBSERVERS, "host", "trial-0001")
    lines = sampler.tick()
    taken_ms = (time.thread_time_ns() - before) / 1e6
    written = sum(len(line) + 1 for line in lines)
    print(f"to begin a period: {taken_ms:.1f} ms, {written / 1e3:.0f} kB of lines")
    return sampler.tick


def cost_ms(read: Read) -> float:
    """The CPU time of one reading in ms, the kernel's on our behalf included."""
    before = time.thread_time_ns()
    read()
    return (time.thread_time_ns() - before) / 1e6


def print_table(costs: Mapping[str, Sequence[float]]) -> None:
    """A row for each reader: min, median and max, and its ratio to all of ours together."""
    ours = statistics.median(costs[_ALL])
    print(f"{'CPU time of a reading, ms':<26}{'min':>8}{'median':>8}{'max':>8}{'ratio':>8}")
    for name, found in costs.items():
        median = statistics.median(found)
        figures = "".join(f"{figure:8.3f}" for figure in (min(found), median, max(found)))
        print(f"{name:<26}{figures}{median / ours:8.2f}")
    print(f"{_ALL}, once a second: {ours / 10:.2f} % of a core")


if __name__ == "__main__":
    main()
