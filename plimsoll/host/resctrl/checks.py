"""What can be known to be wrong with an experiment's `resctrl` section before a run begins."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from plimsoll.errors import InputError, MachineError, PlimsollError
from plimsoll.host.cpus import cpu_mistakes, format_cpu_list
from plimsoll.host.resctrl.filesystem import (
    LEAVE_OUT,
    BandwidthResource,
    CacheResource,
    Resctrl,
)
from plimsoll.host.resctrl.settings import MemoryBandwidth, ResctrlGroup, ResctrlSettings, Schemata

V = TypeVar("V")
PolledCpus = Mapping[str, Collection[int]]
_PROC = Path("/proc")
_WORDS = {"E": "exclusively another group's", "P": "pseudo-locked"}


def resctrl_mistakes(
    settings: ResctrlSettings | None,
    polled: PolledCpus,
    *,
    simulated: bool,
    find: Callable[[], Resctrl] | None = None,
    proc: Path = _PROC,
) -> Iterator[PlimsollError]:
    """All that is wrong, each with its place in the experiment; `polled` are CPUs by role."""
    if settings is None:
        return
    if simulated:
        yield InputError(
            "a simulated lab has no machine whose caches could be allocated",
            where="resctrl",
            remedy=f"use a lab of another kind, {LEAVE_OUT}",
        )
        return
    yield from _cpu_mistakes(settings, polled)
    try:
        resctrl = (find or Resctrl.find)()
    except MachineError as error:
        yield error
        return
    if not os.access(resctrl.root, os.W_OK):
        yield MachineError(
            f"this user may not make groups in {resctrl.root}",
            where="resctrl",
            remedy=f"run as root, {LEAVE_OUT}",
        )
    yield from _own_group_mistakes(proc)
    yield from _count_mistakes(settings, resctrl)
    yield from _owned_cpu_mistakes(settings, polled, resctrl)
    yield from _schemata_mistakes("resctrl.default", settings.default, resctrl)
    for index, group in enumerate(settings.groups):
        yield from _schemata_mistakes(f"resctrl.groups[{index}].schemata", group.schemata, resctrl)


def cpus_of_group(group: ResctrlGroup, polled: PolledCpus) -> dict[int, str]:
    """The CPUs that a group is to own, each with the field that says so."""
    by_role = {cpu: "of" for role in group.of for cpu in polled.get(role, ())}
    return {**by_role, **{cpu: f"cpus[{place}]" for place, cpu in enumerate(group.cpus)}}


# --- CPUs and groups -------------------------------------------------------


def _cpu_mistakes(settings: ResctrlSettings, polled: PolledCpus) -> Iterator[PlimsollError]:
    owners: dict[int, str] = {}
    for index, group in enumerate(settings.groups):
        place = f"resctrl.groups[{index}]"
        for role in group.of:
            if role != "noise" and not polled.get(role):
                yield InputError(
                    f"no loop of the {role} polls a CPU of this machine",
                    where=f"{place}.of",
                    remedy=f"remove {role}, and name its CPUs under cpus where they are known",
                )
        for number, cpu in enumerate(group.cpus):
            # One by one, as of neighbours: a polling loop's CPU is what is meant.
            yield from cpu_mistakes([(f"{place}.cpus[{number}]", cpu)])
        for cpu, field in cpus_of_group(group, polled).items():
            if cpu in owners:
                yield InputError(
                    f"CPU {cpu} is in the group {owners[cpu]} already",
                    where=f"{place}.{field}",
                    remedy="have one group own it",
                )
            owners.setdefault(cpu, group.name)


def _own_group_mistakes(proc: Path) -> Iterator[PlimsollError]:
    """A task's own group outranks its CPU's, and what we start is in our group."""
    try:
        lines = (proc / "self" / "cpu_resctrl_groups").read_text().splitlines()
    except OSError:
        # Before Linux 5.8.
        return
    own = next((line[4:].strip() for line in lines if line.startswith("res:")), "/")
    if own not in ("", "/"):
        yield MachineError(
            f"this process is in the resctrl group {own}, as all that it starts would be, so that "
            "CPUs would count for nothing",
            where="resctrl",
            remedy="start Plimsoll in the default group: write its shell's pid to the file tasks "
            "at resctrl's top",
        )


def _count_mistakes(settings: ResctrlSettings, resctrl: Resctrl) -> Iterator[PlimsollError]:
    most, taken = resctrl.most_groups, resctrl.groups_that_count
    if most is None:
        yield MachineError(
            f"{resctrl.root} can allocate nothing: it monitors alone",
            where="resctrl",
            remedy=f"run on a CPU with CAT or MBA, {LEAVE_OUT}",
        )
    elif len(settings.groups) > (free := max(most - 1 - len(taken), 0)):
        there = f" and {', '.join(taken)}" if taken else ""
        yield MachineError(
            f"{len(settings.groups)} groups are stated and {free} are free: the hardware has "
            f"{most} classes of service (CLOSIDs), of which the default group{there} have one each",
            where="resctrl.groups",
            remedy="state fewer groups, or remove those that are not needed: rmdir "
            f"{resctrl.root}/NAME",
        )


def _owned_cpu_mistakes(
    settings: ResctrlSettings, polled: PolledCpus, resctrl: Resctrl
) -> Iterator[PlimsollError]:
    owner = {cpu: name for name in resctrl.group_names for cpu in resctrl.cpus_of(name)}
    for index, group in enumerate(settings.groups):
        for cpu, field in cpus_of_group(group, polled).items():
            if cpu in owner:
                yield MachineError(
                    f"CPU {cpu} belongs to the resctrl group {owner[cpu]}, to which it would not "
                    "return",
                    where=f"resctrl.groups[{index}].{field}",
                    remedy=f"choose another CPU, or remove that group: "
                    f"rmdir {resctrl.root / owner[cpu]}",
                )


# --- Schemata --------------------------------------------------------------


def _schemata_mistakes(place: str, schemata: Schemata, resctrl: Resctrl) -> Iterator[PlimsollError]:
    for stated, masks in schemata.masks.items():
        where = f"{place}.{stated}"
        resources = resources_of(stated, resctrl)
        if not resources:
            yield _no_such_cache(where, stated, resctrl)
        for resource in resources:
            cache = resctrl.caches[resource]
            domains = resctrl.domains(resource)
            for id_, mask in values_by_domain(masks, domains).items():
                placed = f"{where}[{id_}]" if isinstance(masks, dict) else where
                if id_ not in domains:
                    yield _no_such_domain(placed, resource, id_, domains)
                elif (problem := _mask_problem(mask, cache, id_)) is not None:
                    yield InputError(problem[0], where=placed, remedy=problem[1])
    if schemata.MB is not None:
        yield from _bandwidth_mistakes(f"{place}.MB", schemata.MB, resctrl)


def resources_of(stated: str, resctrl: Resctrl) -> tuple[str, ...]:
    """The kernel's resources that a stated one means: with CDP L3 is code and data alike."""
    names = (stated,) if stated in resctrl.caches else (f"{stated}CODE", f"{stated}DATA")
    return tuple(name for name in names if name in resctrl.caches)


def values_by_domain(stated: V | dict[int, V], domains: Iterable[int]) -> dict[int, V]:
    """What each cache gets: those that are named, or all of them alike."""
    return stated if isinstance(stated, dict) else dict.fromkeys(domains, stated)


def _mask_problem(mask: int, cache: CacheResource, domain: int) -> tuple[str, str] | None:
    """What is wrong with a mask, and the remedy."""
    if beyond := mask & ~cache.cbm_mask:
        return (
            f"the mask {mask:#x} has ways {beyond:#x} that this cache has not",
            f"keep within {cache.cbm_mask:#x}",
        )
    runs = [len(run) for run in f"{mask:b}".split("0") if run]
    # As the kernel counts them: of the lowest run.
    if (runs[-1] if runs else 0) < cache.min_cbm_bits:
        return (
            f"the mask {mask:#x} has fewer than {cache.min_cbm_bits} ways in a row",
            f"give at least {cache.min_cbm_bits}, as min_cbm_bits requires",
        )
    if len(runs) > 1 and not cache.sparse:
        return (
            f"the mask {mask:#x} has gaps, and this CPU takes none",
            "give ways that lie next to each other, such as 0x0f0",
        )
    for letter, words in _WORDS.items():
        ways = _ways(cache.usage.get(domain, ""), letter)
        if mask & ways:
            return (
                f"ways {mask & ways:#x} of cache {domain} are {words}",
                f"keep off {ways:#x}, or make them free",
            )
    return None


def _ways(usage: str, letter: str) -> int:
    """The ways that `bit_usage` annotates with a letter; the first character is the highest."""
    return int("0" + "".join("1" if each == letter else "0" for each in usage), 2)


def _bandwidth_mistakes(
    where: str, stated: MemoryBandwidth | dict[int, MemoryBandwidth], resctrl: Resctrl
) -> Iterator[PlimsollError]:
    resource = resctrl.bandwidth
    if resource is None:
        yield MachineError(
            "memory bandwidth cannot be allocated here: there is no info/MB",
            where=where,
            remedy="remove MB, or run on a CPU with MBA (mba in /proc/cpuinfo)",
        )
        return
    domains = resctrl.domains("MB")
    for id_, bandwidth in values_by_domain(stated, domains).items():
        placed = f"{where}[{id_}]" if isinstance(stated, dict) else where
        if id_ not in domains:
            yield _no_such_domain(placed, "MB", id_, domains)
        elif (problem := _bandwidth_problem(bandwidth, resource)) is not None:
            yield InputError(problem[0], where=placed, remedy=problem[1])


def _bandwidth_problem(
    bandwidth: MemoryBandwidth, resource: BandwidthResource
) -> tuple[str, str] | None:
    unit = resource.unit_bytes_per_s
    if unit is None:
        if bandwidth.percent is None:
            return (
                f"{bandwidth} is a rate, and resctrl takes shares here",
                "write a share such as 20%, or mount resctrl with -o mba_MBps",
            )
        if bandwidth.percent < resource.min_bandwidth:
            return (
                f"{bandwidth} is less than this CPU can hold a group to",
                f"give {resource.min_bandwidth}% or more",
            )
    elif bandwidth.bytes_per_s is None:
        return (
            f"{bandwidth} is a share, and resctrl takes rates here",
            "write a rate such as 4GB/s",
        )
    elif bandwidth.bytes_per_s < unit * resource.min_bandwidth:
        return (
            f"{bandwidth} is less than the least rate",
            f"give {unit * resource.min_bandwidth / 1e6:g}MB/s or more",
        )
    return None


def _no_such_cache(where: str, stated: str, resctrl: Resctrl) -> MachineError:
    known = ", ".join(resctrl.caches) or "none"
    apart = stated.endswith(("CODE", "DATA"))
    option = "cdp" if stated.startswith("L3") else "cdpl2"
    remount = f"mount resctrl with -o {option}, or state {stated[:2]}"
    return MachineError(
        f"{stated} cannot be allocated here: caches that can be are {known}",
        where=where,
        remedy=remount if apart and stated[:2] in resctrl.caches else f"remove {stated}",
    )


def _no_such_domain(where: str, resource: str, domain: int, domains: Collection[int]) -> InputError:
    return InputError(
        f"there is no cache {domain} for {resource}",
        where=where,
        remedy=f"name ids out of {format_cpu_list(domains)}",
    )
