"""What a host's TuneD profiles include, and which CPUs TuneD's own cpu-partitioning isolates."""

from __future__ import annotations

import re

from plimsoll.tune.host.view.host_view import HostView

# Where administrators have theirs: since TuneD 2.24 in profiles/, and before that next to the rest.
_FOLDERS = ("/etc/tuned/profiles", "/etc/tuned")
PROFILE_FILES = tuple(f"{folder}/*/tuned.conf" for folder in _FOLDERS)
PARTITIONING_VARIABLES = "/etc/tuned/cpu-partitioning-variables.conf"
# Of redhat-performance/tuned, profiles/: the second stands on the first.
PARTITIONING = ("cpu-partitioning", "cpu-partitioning-powersave")

_MAX_PROFILES = 32
_NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)
_INCLUDE = re.compile(r"\s*include\s*=\s*([\w., -]{1,256})", re.ASCII)
_ISOLATED = re.compile(r"\s*isolated_cores\s*=\s*([\d, -]{1,4096})", re.ASCII)


def with_included(view: HostView, active: str) -> tuple[str, ...]:
    """The active profiles and all that they include, as far as their files can be read."""
    found: list[str] = []
    waiting = active.split()
    while waiting and len(found) < _MAX_PROFILES:
        name = waiting.pop(0)
        if name in found or not _NAME.fullmatch(name):
            continue
        found.append(name)
        texts = (view.read(f"{folder}/{name}/tuned.conf") for folder in _FOLDERS)
        text = next((each for each in texts if each is not None), "")
        waiting += _included(text)
    return tuple(found)


def isolated_by_partitioning(view: HostView) -> str | None:
    """The CPUs that cpu-partitioning is given, as written; None where that is unknown."""
    lines = (view.read(PARTITIONING_VARIABLES) or "").splitlines()
    given = [match[1].strip() for line in lines if (match := _ISOLATED.fullmatch(line))]
    return given[-1] if given else None


def include_lines(text: str) -> str:
    """Of a profile what it includes, and nothing else: the rest is anybody's."""
    return "\n".join(line for line in text.splitlines() if _INCLUDE.fullmatch(line))


def isolated_lines(text: str) -> str:
    """Of cpu-partitioning's variables the CPUs, and nothing else."""
    return "\n".join(line for line in text.splitlines() if _ISOLATED.fullmatch(line))


def _included(text: str) -> list[str]:
    given = [match[1] for line in text.splitlines() if (match := _INCLUDE.fullmatch(line))]
    return [name for each in given for name in each.replace(",", " ").split()]
