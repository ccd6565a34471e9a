"""A command line and its profile, written as an experiment that does the same."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.trafficgen.command import TrafficgenCommand, parse_trafficgen_command
from plimsoll.benchmark.trafficgen.lab import devices_of, generator_section, lab_section
from plimsoll.benchmark.trafficgen.options import OPTIONS, PROFILE, TXRX
from plimsoll.benchmark.trafficgen.search import (
    criteria_section,
    search_section,
    tester_section,
)
from plimsoll.benchmark.trafficgen.traffic import traffic_of
from plimsoll.benchmark.trafficgen.trex_config import TrexConfig
from plimsoll.benchmark.trafficgen.trial import trial_section
from plimsoll.errors import InputError
from plimsoll.text.commented_yaml import Noted, commented_yaml
from plimsoll.text.document import parse_document
from plimsoll.traffic.streams.profile import Profile

_COMMENT_WIDTH = 96


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
