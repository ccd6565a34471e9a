"""The resctrl groups of a run: made at its begin, read back, and gone at its end."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from plimsoll.errors import MachineError
from plimsoll.host.cpus import format_cpu_list
from plimsoll.host.entry.entry_point import enter
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.resctrl.checks import (
    PolledCpus,
    cpus_of_group,
    resources_of,
    values_by_domain,
)
from plimsoll.host.resctrl.filesystem import Resctrl, parse_schemata
from plimsoll.host.resctrl.settings import MemoryBandwidth, ResctrlGroup, ResctrlSettings, Schemata

_UNDOING = "plimsoll.host.resctrl.groups"
# What marks a group as ours, whatever a ledger says.
_PREFIX = "plimsoll-"


@dataclass(frozen=True)
class ResctrlGroups:
    """Those of one test bed: `folders` by the groups' names in the experiment."""

    folders: Mapping[str, Path] = field(default_factory=dict)
    # What is in force, as the kernel says it; for the record.
    facts: Mapping[str, object] | None = None
    # Where each neighbour writes itself; None where they have no group.
    noise_tasks: Path | None = None
    # Who has what, for readers of the results.
    notes: tuple[str, ...] = ()
    # By group, what was in force at the beginning, and a way to read it again.
    in_force: Mapping[str, object] = field(default_factory=dict)
    read: Callable[[], Mapping[str, object]] = dict

    def check(self) -> None:
        """Raise MachineError where a group has something else than when the run began."""
        now = self.read()
        if changed := [name for name, had in self.in_force.items() if now.get(name) != had]:
            name = changed[0]
            raise MachineError(
                f"the group {name} began with {self.in_force[name]} and has {now.get(name)}",
                where="resctrl",
                remedy="see whether another program (pqos, a kubelet) sets resctrl, too",
            )


# Of an experiment that allocates nothing.
NO_GROUPS = ResctrlGroups()


@contextmanager
def resctrl_groups(
    settings: ResctrlSettings | None,
    polled: PolledCpus,
    ledger: Ledger,
    resctrl: Resctrl | None = None,
) -> Iterator[ResctrlGroups]:
    """Have the groups for the length of a `with`; `polled` are CPUs by role.

    What is made and changed is in the ledger before. Raises MachineError in the kernel's words.
    """
    if settings is None:
        yield NO_GROUPS
        return
    resctrl = Resctrl.find() if resctrl is None else resctrl
    names = {group.name: f"plimsoll-{ledger.id}-{group.name}" for group in settings.groups}
    before = _stated_of_default(settings.default, resctrl)
    ledger.note_undoing_module(_UNDOING, str(resctrl.root), json.dumps(before), *names.values())
    try:
        for index, group in enumerate(settings.groups):
            _make(f"resctrl.groups[{index}]", group, names[group.name], polled, resctrl)
        # Last, as ways that others are to have free must be theirs by then.
        _allocate("resctrl.default", settings.default, "", resctrl)
        noise = settings.group_of("noise")
        read = partial(_in_force, names, resctrl)
        yield ResctrlGroups(
            {name: resctrl.root / folder for name, folder in names.items()},
            _facts(settings, names, resctrl),
            None if noise is None else resctrl.root / names[noise] / "tasks",
            tuple(_note(group, names[group.name], polled, resctrl) for group in settings.groups),
            read(),
            read,
        )
    finally:
        remove_groups(resctrl, before, names.values())


def _stated_of_default(schemata: Schemata, resctrl: Resctrl) -> tuple[str, ...]:
    """The lines of the default group that will be changed, as they are now."""
    present = parse_schemata(resctrl.read("schemata"))
    stated = [each for name in schemata.masks for each in resources_of(name, resctrl)]
    if schemata.MB is not None:
        stated.append("MB")
    return tuple(_line(resource, present[resource]) for resource in stated)


def _make(
    place: str, group: ResctrlGroup, folder: str, polled: PolledCpus, resctrl: Resctrl
) -> None:
    with _in_kernels_words(f"{place}.name", "cannot make the group", resctrl):
        resctrl.make(folder)
    _allocate(f"{place}.schemata", group.schemata, folder, resctrl)
    if cpus := cpus_of_group(group, polled):
        with _in_kernels_words(place, "cannot give it its CPUs", resctrl):
            resctrl.write(f"{folder}/cpus_list", format_cpu_list(cpus))


def _allocate(place: str, schemata: Schemata, folder: str, resctrl: Resctrl) -> None:
    """Write what is stated and see that the kernel has it. The default group's folder is ""."""
    file = f"{folder}/schemata" if folder else "schemata"
    for stated, masks in schemata.masks.items():
        for resource in resources_of(stated, resctrl):
            by_domain = values_by_domain(masks, resctrl.domains(resource))
            written = {id_: f"{mask:x}" for id_, mask in by_domain.items()}
            with _in_kernels_words(f"{place}.{stated}", "refused", resctrl):
                resctrl.write(file, _line(resource, written))
            in_force = parse_schemata(resctrl.read(file))[resource]
            for id_, mask in by_domain.items():
                if int(in_force[id_], 16) != mask:
                    raise MachineError(
                        f"{mask:#x} was written for cache {id_}, and {in_force[id_]} is in force",
                        where=f"{place}.{stated}",
                        remedy="see whether another program (pqos, a kubelet) sets resctrl, too",
                    )
    if schemata.MB is not None:
        rates = values_by_domain(schemata.MB, resctrl.domains("MB"))
        with _in_kernels_words(f"{place}.MB", "refused", resctrl):
            # Rounded to what the hardware has; the record says what came of it.
            resctrl.write(
                file, _line("MB", {id_: _number(rate, resctrl) for id_, rate in rates.items()})
            )


def _number(bandwidth: MemoryBandwidth, resctrl: Resctrl) -> str:
    """As the kernel takes it: a rate in whole units, and never above what is stated."""
    if bandwidth.bytes_per_s is None or resctrl.bandwidth is None:
        return str(bandwidth.percent)
    return str(int(bandwidth.bytes_per_s / (resctrl.bandwidth.unit_bytes_per_s or 1)))


def _line(resource: str, by_domain: Mapping[int, str]) -> str:
    return f"{resource}:{';'.join(f'{id_}={value}' for id_, value in by_domain.items())}"


@contextmanager
def _in_kernels_words(place: str, problem: str, resctrl: Resctrl) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        said = resctrl.last_status() or error.strerror
        raise MachineError(
            f"{problem}: {said}",
            where=place,
            remedy=f"see {resctrl.root}/info and the groups that are there",
        ) from error


def _in_force(names: Mapping[str, str], resctrl: Resctrl) -> dict[str, object]:
    """What each group may use and which CPUs are its own; of the default group the former."""
    # No group of the experiment is called so.
    default: dict[str, object] = {"(default)": _named(resctrl.read("schemata"))}
    try:
        return default | {name: _of_group(resctrl, folder) for name, folder in names.items()}
    except OSError:
        # A group has gone.
        return default


def _note(group: ResctrlGroup, folder: str, polled: PolledCpus, resctrl: Resctrl) -> str:
    """What a group has in force, for people."""
    cpus = format_cpu_list(cpus_of_group(group, polled))
    members = (("noise",) * ("noise" in group.of), (f"CPUs {cpus}",) * bool(cpus))
    in_force = "; ".join(resctrl.read(f"{folder}/schemata").split())
    return f"resctrl: {group.name} ({', '.join(sum(members, ()))}) has {in_force}"


def _facts(
    settings: ResctrlSettings, names: Mapping[str, str], resctrl: Resctrl
) -> dict[str, object]:
    """What the kernel says is in force, for the record."""
    return {
        "mounted_at": str(resctrl.root),
        "options": sorted(resctrl.options),
        "info": _info(resctrl.root / "info"),
        "default": _of_group(resctrl, ""),
        "groups": [
            {"name": group.name, "of": list(group.of), **_of_group(resctrl, names[group.name])}
            for group in settings.groups
        ],
    }


def _of_group(resctrl: Resctrl, folder: str) -> dict[str, object]:
    place = f"{folder}/" if folder else ""
    there = resctrl.root / folder
    facts: dict[str, object] = {
        "cpus": resctrl.read(f"{place}cpus_list"),
        "schemata": _named(resctrl.read(f"{place}schemata")),
    }
    if (there / "size").exists():
        facts["size"] = _named(resctrl.read(f"{place}size"))
    if (there / "mode").exists():
        facts["mode"] = resctrl.read(f"{place}mode")
    return facts


def _named(text: str) -> dict[str, dict[str, str]]:
    """With the caches' ids as JSON has them."""
    return {
        resource: {str(id_): value for id_, value in by_domain.items()}
        for resource, by_domain in parse_schemata(text).items()
    }


def _info(folder: Path) -> dict[str, dict[str, str]]:
    """Every small file of each resource in `info`, as it reads."""
    return {
        resource.name: {
            file.name: file.read_text().strip()
            for file in sorted(resource.iterdir())
            if file.is_file()
        }
        for resource in sorted(folder.iterdir())
        if resource.is_dir()
    }


# Removes a run's resctrl groups, also after it was killed: the ledger runs this as a module.
#
# `python -m plimsoll.host.resctrl.groups ROOT BEFORE GROUP …`: GROUPs are directories in ROOT;
# BEFORE is a JSON list of the default group's schemata lines as they were.
def remove_groups(resctrl: Resctrl, before: Iterable[str], groups: Iterable[str]) -> None:
    """Remove the groups and give the default one back what it had; may be repeated.

    Their CPUs and tasks are the default group's again. Where resctrl is not mounted any more
    there is nothing left to undo. Raises OSError, and ValueError for a group not ours.
    """
    for group in groups:
        if not group.startswith(_PREFIX) or "/" in group:
            raise ValueError(f"{group} is not a group of ours")
        resctrl.remove(group)
    if (resctrl.root / "schemata").exists():
        for line in before:
            resctrl.write("schemata", line)


if __name__ == "__main__":
    enter(lambda: remove_groups(Resctrl(Path(sys.argv[1])), json.loads(sys.argv[2]), sys.argv[3:]))
