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
            raise mistake("is no section of its own here", _OTHERS[name], name)
        if options.get("type") == "script":
            raise mistake("runs programs as root", "leave it out", name, "type")
    return sections


_Options: TypeAlias = Mapping[Word, Text]


class Tuned(Section):
    """`name` is the profile's, and upon OpenShift `object` the Tuned object's that holds it.

    Left out, they are performance-patch, and upon hosts plimsoll- with the intent's name. The
    profile of the lowest `priority` wins (left out, 19; the operator's own is 20). `include` is
    what it stands on, the last the strongest; left out, the operator's own profile, and upon
    hosts network-latency. `sections` are further ones, such as scheduler with its groups.
    """

    name: ObjectName | None = None
    object: ObjectName | None = None
    priority: Annotated[int, Field(ge=0, le=99)] | None = None
    include: Listed[Word] = ()
    sections: Annotated[Mapping[Word, _Options], AfterValidator(_check_sections)] = {}
