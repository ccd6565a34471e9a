"""The neighbours of a trial, as the rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.host.cpus import format_cpu_list
from plimsoll.neighbours.neighbour_run import NeighbourRun
from plimsoll.text.units import format_duration, format_number


@dataclass(frozen=True, slots=True)
class NoiseLine:
    """One neighbour: what it was meant to do, where, and what it did."""

    name: str
    level: str
    place: str
    workers: int
    did: str
    cpu_time: str


def noise_lines(noise: Sequence[NeighbourRun]) -> tuple[NoiseLine, ...]:
    """One of each, in the experiment's order."""
    return tuple(
        NoiseLine(
            name=each.name,
            level=each.level or "as much as it can",
            place=_place(each),
            workers=each.workers,
            did=_did(each),
            cpu_time="" if each.cpu_s is None else format_duration(each.cpu_s),
        )
        for each in noise
    )


def _place(neighbour: NeighbourRun) -> str:
    places = [f"CPU {format_cpu_list(neighbour.cpus)}"] if neighbour.cpus else []
    places += [f"cgroup {neighbour.cgroup}"] if neighbour.cgroup else []
    return ", ".join(places)


def _did(neighbour: NeighbourRun) -> str:
    if neighbour.ended_early is not None:
        return f"{neighbour.ended_early} before the trial was over"
    if neighbour.intensity is None:
        return f"not known: {neighbour.unknown}"
    if neighbour.unit == "B/s":
        return f"{format_number(neighbour.intensity / 1e6)} MB/s"
    return f"{format_number(neighbour.intensity)} {neighbour.unit}"
