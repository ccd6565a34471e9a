"""Hosts composed by hand, in words that people read, and made into captures.

No virtual machine has memory channels, frequencies, a firmware, system management interrupts
or an E810. A document below composed/ says what the files of a machine with all that hold,
after the documentation that its comments name; nothing in it was ever read of a machine.
`plimsoll tune capture`'s own code makes the archive of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from plimsoll.cli.tune.capture import needed_files
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.terminal.options.bmc_options import HostWithBios
from plimsoll.text.document import read_document
from plimsoll.tune.audit.finding import CheckVerdict
from plimsoll.tune.host.capture.capture import Capture, CapturedHost
from plimsoll.tune.host.capture.capture_privacy import matches
from plimsoll.tune.host.capture.collect import collect
from plimsoll.tune.host.view.commands import commands_of
from plimsoll.tune.host.view.host_view import BiosAnswer, CommandOutput, HostView
from plimsoll.tune.host.view.unread import Unread
from plimsoll.tune.intent.intent import Intent
from tests.unit.tune.captures.composed_process import process_files

_SECTIONS = ("files", "links", "directories", "commands")
_WHOLE = ("intent", "verdicts", "firmware")
FOLDER = Path(__file__).parent / "composed"
# Long before any machine booted for it: the time of a host that never was.
COMPOSED_AT = datetime(2026, 1, 1, tzinfo=UTC)
# "{0-15}" in a path stands for each of the numbers, which "{n}" is in the text.
_EACH = re.compile(r"\{([0-9,-]+)\}")


@dataclass(frozen=True)
class ComposedHost:
    """The files, links, directories and outputs of commands of a host that is not.

    `firmware` is what its BMC would answer. `verdicts` is what an audit against `intent` must
    say, by the number of the check.
    """

    name: str
    intent: Intent
    verdicts: Mapping[int, CheckVerdict]
    files: Mapping[str, str]
    links: Mapping[str, str]
    directories: Mapping[str, tuple[str, ...]]
    commands: Mapping[str, CommandOutput]
    firmware: BiosAnswer | None

    def requested(self, capture: HostView) -> HostView:
        """The capture, and what the host's BMC says where it has one."""
        return HostWithBios(capture, self.firmware) if self.firmware else capture

    def capture(self) -> Capture:
        """What `plimsoll tune capture` would have taken of it."""
        expected = needed_files()
        interfaces = tuple(self.directories.get("/sys/class/net", ()))
        requested = [each for form in expected.commands for each in commands_of(form, interfaces)]
        host = CapturedHost(
            files=self.files,
            links=self.links,
            listed=self.directories,
            outputs=self.commands,
            unread=[
                Unread(each, "absent", f"{each.split()[0]} is not installed")
                for each in requested
                if each not in self.commands
            ],
        )
        return collect(host, expected, COMPOSED_AT)


def composed_host(name: str) -> ComposedHost:
    """The host of composed/NAME.yaml, on top of the one that it is `like`."""
    document = _document(name)
    files = dict(document["files"])
    for process in document["processes"].values():
        files |= process_files(process)
    return ComposedHost(
        name=name,
        intent=Intent.model_validate(document["intent"]),
        verdicts={
            number: verdict
            for verdict, numbers in document["verdicts"].items()
            for number in numbers
        },
        files=files,
        links=document["links"],
        directories={path: tuple(names) for path, names in document["directories"].items()},
        commands={path: _output(given) for path, given in document["commands"].items()},
        firmware=BiosAnswer(**document["firmware"]) if "firmware" in document else None,
    )


def _document(name: str) -> dict[str, Any]:
    """All its sections, each by path or the like, every path written out."""
    data = read_document(FOLDER / f"{name}.yaml").data
    assert isinstance(data, dict)
    unknown = data.keys() - {"like", "gone", "processes", *_WHOLE, *_SECTIONS}
    assert not unknown, f"{name}: {unknown}"
    own: dict[str, Any] = {each: dict(_written_out(data.get(each, {}))) for each in _SECTIONS}
    own["processes"] = {each["pid"]: each for each in data.get("processes", [])}
    own |= {each: data[each] for each in _WHOLE if each in data}
    return _over(_document(data["like"]), own, data.get("gone", [])) if "like" in data else own


def _over(base: dict[str, Any], own: dict[str, Any], gone: list[str]) -> dict[str, Any]:
    """`own` on top of what is left of `base`; processes are gone by their pid alone."""
    merged = base | own
    for section in _SECTIONS:
        kept = {
            path: content
            for path, content in base[section].items()
            if not any(matches(pattern, path) for pattern in gone)
        }
        merged[section] = kept | own[section]
    processes = base["processes"] | own["processes"]
    merged["processes"] = {pid: each for pid, each in processes.items() if "name" in each}
    return merged


def _written_out(section: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for path, given in section.items():
        for place, number in _numbered(path):
            yield place, str(given).replace("{n}", number) if _is_plain(given) else given


def _is_plain(given: Any) -> bool:
    return isinstance(given, str | int | float)


def _numbered(path: str) -> Iterator[tuple[str, str]]:
    found = _EACH.search(path)
    if found is None:
        yield path, "{n}"
        return
    for number in parse_cpu_list(found[1]):
        yield path.replace(found[0], str(number), 1), str(number)


def _output(given: Any) -> CommandOutput:
    """A text is that of a command that ended well."""
    if isinstance(given, dict):
        return CommandOutput(given["status"], given["text"])
    return CommandOutput(0, given)
