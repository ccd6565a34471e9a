"""A command line and its profile, written as an experiment that does the same."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.trafficgen.command import TrafficgenCommand, parse_trafficgen_command
from plimsoll.benchmark.trafficgen.options import OPTIONS, PROFILE, TXRX
from plimsoll.benchmark.trafficgen.search import (
    criteria_section,
    search_section,
    seconds,
    tester_section,
)
from plimsoll.benchmark.trafficgen.traffic import traffic_of
from plimsoll.benchmark.trafficgen.trex_config import TrexConfig, device_of
from plimsoll.errors import InputError
from plimsoll.text.bounded_yaml import Noted, commented_yaml
from plimsoll.text.document import parse_document
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.teaching.teaching import taught_streams

_COMMENT_WIDTH = 96
_PAIR = re.compile(r"(\d{1,3}):(\d{1,3})")
_SAME_AS_DEVICES = "--"
# What a shell would make something of, outside quotes.
_OF_A_SHELL = frozenset("|&;<>()$`*?[]{}~#!\n")
_QUOTED = re.compile(r"""'[^']*'|"(?P<inside>(?:[^"\\]|\\.)*)\"""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ImportedExperiment:
    """An experiment as commented YAML, and notices about it, in sentences."""

    text: str
    notices: tuple[str, ...]


def import_command(
    words: Sequence[str],
    *,
    profile_path: Path | None = None,
    trex: TrexConfig | None = None,
    name: str | None = None,
) -> ImportedExperiment:
    """Read a binary-search.py command line and write the experiment that does the same.

    `profile_path` stands for its --traffic-profile, `trex` says what its device numbers
    mean. Options that Plimsoll has no counterpart for are in the notices, and in
    comments. Raises InputError for options that binary-search.py does not have, and for
    all that would test something else.
    """
    command = parse_trafficgen_command(words)
    _check_generator(command)
    profile = traffic_of(command, profile_path)
    path = profile_path or Path(command.text("traffic-profile"))
    document = {
        "name": name or _name(path),
        "lab": lab_section(command, trex),
        **_unless_empty("generator", generator_section(command, trex)),
        "profile": {"streams": _streams(profile, command, path)},
        "trial": trial_section(command, profile),
        "criteria": criteria_section(command),
        "tester": tester_section(command),
        "search": search_section(command),
    }
    notices = (*_left_out(command), *_to_do(command, trex))
    text = commented_yaml(document, tuple(_heading(command, notices)))
    parse_document(Path(f"{document['name']}.yaml"), text).validate(Experiment)
    return ImportedExperiment(text, notices)


def _check_generator(command: TrafficgenCommand) -> None:
    generator = command.text("traffic-generator")
    if generator not in (PROFILE, TXRX):
        raise InputError(
            f"what {generator} sends has no counterpart",
            where="--traffic-generator",
            remedy=f"import a command line for {PROFILE} or {TXRX}",
        )


def _name(path: Path) -> str:
    """After the profile's file, in letters that an experiment's name may have."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", path.stem).lstrip("._-")[:64] or "trafficgen"


def _unless_empty(key: str, section: dict[str, Any]) -> dict[str, Any]:
    return {key: section} if section else {}


def _streams(profile: Profile, command: TrafficgenCommand, path: Path) -> Any:
    """In Plimsoll's own form, without what is default."""
    streams = [stream.model_dump(mode="json", exclude_defaults=True) for stream in profile.streams]
    if command["traffic-generator"] != PROFILE:
        return Noted(streams, "from --frame-size, --num-flows and the like")
    return Noted(streams, f"of {path.name}; loads of 1x are these rates")


def _left_out(command: TrafficgenCommand) -> Iterator[str]:
    """Each option that was given and is not in the experiment, and why."""
    generator = command.text("traffic-generator")
    for name in command.given:
        option = OPTIONS[name]
        if option.without is not None:
            yield f"{command.written(name)}: {option.without}"
        elif not option.is_heeded_by(generator):
            yield f"{command.written(name)}: trafficgen does not heed it with {generator}"


def _to_do(command: TrafficgenCommand, trex: TrexConfig | None) -> Iterator[str]:
    """What a person has to add."""
    if trex is None:
        devices = " and ".join(str(device) for device in devices_of(command))
        yield (
            f"devices {devices} are TRex's numbers: put their PCI addresses into lab.ports, "
            "or import with --trex-cfg"
        )
    elif not generator_section(command, trex):
        yield "generator.cpus is left at its default: TRex's threads do not divide over the ports"


def _heading(command: TrafficgenCommand, notices: Sequence[str]) -> Iterator[str]:
    yield "Written by plimsoll import trafficgen. The command line:"
    line = " ".join(["binary-search.py", *(command.written(name) for name in command.given)])
    yield from _wrapped(line)
    if notices:
        yield "What is not in here:"
        for notice in notices:
            yield from _wrapped(notice)


def _wrapped(text: str) -> list[str]:
    """Lines of a comment; text from outside holds no line end of its own."""
    printable = "".join(each if each.isprintable() else " " for each in text)
    return textwrap.wrap(
        printable,
        width=_COMMENT_WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_on_hyphens=False,
        break_long_words=False,
    )


# The devices of a binary-search.py command line, as the lab and the generator that use them.
def lab_section(command: TrafficgenCommand, trex: TrexConfig | None) -> dict[str, Any]:
    """A lab of kind external between the devices. Raises InputError."""
    pairs = _pairs(command, "device-pairs")
    active = pairs
    if command["active-device-pairs"] != _SAME_AS_DEVICES:
        active = _pairs(command, "active-device-pairs")
    devices = devices_of(command)
    section: dict[str, Any] = {
        "kind": "external",
        "ports": [{"devargs": _devargs(device, trex)} for device in devices],
    }
    numbers = {device: number for number, device in enumerate(devices)}
    if unknown := [device for pair in active for device in pair if device not in numbers]:
        raise InputError(
            f"device {unknown[0]} is not in --device-pairs",
            where="--active-device-pairs",
            remedy="name pairs of --device-pairs",
        )
    paths = [[numbers[one], numbers[other]] for a, b in active for one, other in ((a, b), (b, a))]
    origin = command.origin("active-device-pairs" if active != pairs else "device-pairs")
    section["paths"] = Noted(paths, origin)
    if trex is not None and trex.port_gbps is not None:
        rate = f"{trex.port_gbps:g}Gbps"
        section["line_rate"] = Noted(rate, "port_bandwidth_gb of TRex's configuration")
    return section


def generator_section(command: TrafficgenCommand, trex: TrexConfig | None) -> dict[str, Any]:
    """TRex's CPUs, where the engine can use as many; empty where none are known."""
    ports = len(devices_of(command))
    if trex is None or not trex.cpus or len(trex.cpus) % ports:
        return {}
    return {"cpus": Noted(list(trex.cpus), "threads of TRex's configuration")}


def devices_of(command: TrafficgenCommand) -> list[int]:
    """TRex's numbers of the devices, each once, in the order of the pairs."""
    pairs = _pairs(command, "device-pairs")
    return list(dict.fromkeys(device for pair in pairs for device in pair))


def _devargs(device: int, trex: TrexConfig | None) -> Any:
    if trex is not None:
        return Noted(device_of(trex, device), f"device {device}")
    return Noted(f"trex-device-{device}", f"put device {device}'s PCI address here")


def _pairs(command: TrafficgenCommand, name: str) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for written in command.text(name).split(","):
        match = _PAIR.fullmatch(written)
        if match is None or int(match[1]) == int(match[2]):
            raise InputError(
                f"{written!r} is not a pair of devices",
                where=f"--{name}",
                remedy="write it as 0:1, or 0:1,2:3",
            )
        pairs.append((int(match[1]), int(match[2])))
    return pairs


# What surrounds the trials of a binary-search.py command line, as an experiment's `trial`.
def trial_section(command: TrafficgenCommand, profile: Profile) -> dict[str, Any]:
    """Warm-up, teaching, pauses and the command before each trial. Raises InputError."""
    section: dict[str, Any] = {"warmup": _warmup(command)}
    if teaching := _teaching(command, profile):
        section["teaching"] = teaching
    if command.whole("trial-gap"):
        gap = seconds(command.whole("trial-gap"))
        section["gap"] = Noted(gap, command.origin("trial-gap"))
    if command["pre-trial-cmd"]:
        section["before"] = Noted(_words(command), command.origin("pre-trial-cmd"))
    return section


def _warmup(command: TrafficgenCommand) -> Noted:
    if not command.flag("warmup-trial"):
        return Noted(None, "no --warmup-trial")
    runtime = seconds(command.whole("warmup-trial-runtime"))
    origin = command.origin("warmup-trial-runtime")
    return Noted(runtime, f"--warmup-trial, {origin}; here at the least load")


def _teaching(command: TrafficgenCommand, profile: Profile) -> dict[str, Any]:
    """With a profile the frames are of the streams' own kind, whatever the options say."""
    section: dict[str, Any] = {}
    if taught_streams(profile, "teaching_warmup"):
        section["warmup"] = _part(command, "warmup")
    if taught_streams(profile, "teaching_measurement"):
        interval = command.number("teaching-measurement-interval")
        section["measurement"] = {
            **_part(command, "measurement"),
            "interval": Noted(f"{interval:g}s", command.origin("teaching-measurement-interval")),
        }
    return section


def _part(command: TrafficgenCommand, when: str) -> dict[str, Any]:
    kind, rate = f"teaching-{when}-packet-type", f"teaching-{when}-packet-rate"
    frames = (
        Noted("generic", "of the streams' own kind")
        if command["traffic-generator"] == PROFILE
        else Noted(command[kind], command.origin(kind))
    )
    return {"frames": frames, "rate": Noted(f"{command[rate]}pps", command.origin(rate))}


def _words(command: TrafficgenCommand) -> list[str]:
    """The words of --pre-trial-cmd, which trafficgen hands to a shell."""
    text = command.text("pre-trial-cmd")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise _needs_a_script(f"cannot be read: {error}") from None
    if not words:
        raise _needs_a_script("names no program")
    if _OF_A_SHELL & set(_unquoted(text)) or "=" in words[0]:
        raise _needs_a_script("needs a shell, and here none reads it")
    return words


def _unquoted(text: str) -> str:
    """What a shell looks at: all outside quotes, and inside double ones only $ and `."""
    return _QUOTED.sub(lambda part: re.sub(r"[^$`]", "", part["inside"] or ""), text)


def _needs_a_script(problem: str) -> InputError:
    remedy = "put it into a script, and give the script's path"
    return InputError(problem, where="--pre-trial-cmd", remedy=remedy)
