"""What all checks together read: what a capture collects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from plimsoll.tune.audit.check import TOPOLOGY, Check
from plimsoll.tune.audit.registry import all_checks
from plimsoll.tune.host.collect import Wanted
from plimsoll.tune.host.kernel_command_line import PATH
from plimsoll.tune.host.virtual_machine import CPUINFO

# What the assumed intent and the proposal of one read besides.
_FOR_INTENTS = (PATH, CPUINFO, *TOPOLOGY)


def wanted_files(checks: Sequence[Check] | None = None) -> Wanted:
    """The union of what `checks`, by default all there are, say that they read."""
    asked = all_checks() if checks is None else checks
    return Wanted(
        files=_once((_FOR_INTENTS, *(check.reads for check in asked))),
        links=_once(check.links for check in asked),
        lists=_once(check.lists for check in asked),
        commands=_once(check.commands for check in asked),
    )


def _once(patterns: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(patterns)))
