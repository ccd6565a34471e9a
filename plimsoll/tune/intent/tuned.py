"""The intent's TuneD profile: its name, what it stands on and what no other field says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field

from plimsoll.text.mistakes import mistake
from plimsoll.tune.intent.fields.section import Listed, ObjectName, Section, Text, Word

# Sections that other fields of the intent mean; and one that runs programs as root.
_OTHERS = {
    "main": "use tuned.include",
    "bootloader": "use kernel.tuned_bootloader",
    "sysctl": "use scheduling.sysctls",
    "script": "leave it out: it runs programs as root",
}


def _check_sections(sections: Mapping[str, Mapping[str, str]]) -> Mapping[str, Mapping[str, str]]:
    for name, options in sections.items():
        if name in _OTHERS:
            raise mistake("is not a section of its own here", _OTHERS[name], name)
        if options.get("type") == "script":
            raise mistake("runs programs as root", "leave it out", name, "type")
    return sections


_Options: TypeAlias = Mapping[Word, Text]


class Tuned(Section):
    """The profile that is rendered, and upon OpenShift the Tuned object that holds it."""

    name: ObjectName | None = None
    """The profile's name; left out, performance-patch upon OpenShift, and upon hosts plimsoll- with
    the intent's name."""
    object: ObjectName | None = None
    """Upon OpenShift, the name of the Tuned object that holds it; left out, the profile's."""
    priority: Annotated[int, Field(ge=0, le=99)] | None = None
    """Upon OpenShift, of the profiles that fit a node the one with the lowest wins; left out, 19,
    before the operator's own, 20."""
    include: Listed[Word] = ()
    """Profiles that it stands on, the last the strongest; empty: the operator's own, and upon hosts
    network-latency."""
    sections: Annotated[Mapping[Word, _Options], AfterValidator(_check_sections)] = {}
    """Sections of its own by name, each with its options, such as scheduler with its groups."""
