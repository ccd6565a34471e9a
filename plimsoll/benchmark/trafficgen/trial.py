"""What surrounds the trials of a binary-search.py command line, as an experiment's `trial`."""

from __future__ import annotations

import re
import shlex
from typing import Any

from plimsoll.benchmark.trafficgen.command import TrafficgenCommand
from plimsoll.benchmark.trafficgen.options import PROFILE
from plimsoll.benchmark.trafficgen.search import seconds
from plimsoll.errors import InputError
from plimsoll.text.commented_yaml import Noted
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.teaching.teaching import taught_streams

# What a shell would make something of, outside quotes.
_OF_A_SHELL = frozenset("|&;<>()$`*?[]{}~#!\n")
_QUOTED = re.compile(r"""'[^']*'|"(?P<inside>(?:[^"\\]|\\.)*)\"""", re.DOTALL)


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
