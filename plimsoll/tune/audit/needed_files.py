"""What all checks together read: what a capture collects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from plimsoll.tune.audit.check import TOPOLOGY, Check
from plimsoll.tune.audit.registry import all_checks
from plimsoll.tune.audit.remedy import REMEDY_READS
from plimsoll.tune.host.boot.kernel_command_line import PATH
from plimsoll.tune.host.capture.collect import NeededFiles
from plimsoll.tune.proposal.survey import SURVEY_LINKS, SURVEY_READS

# What the assumed intent, the proposal of one, and the remedies read as well.
_ALWAYS_READ = (PATH, *TOPOLOGY, *SURVEY_READS, *REMEDY_READS)


def needed_files(checks: Sequence[Check] | None = None) -> NeededFiles:
    """The union of what `checks`, by default all there are, say that they read."""
    selected = all_checks() if checks is None else checks
    return NeededFiles(
        files=_once((_ALWAYS_READ, *(check.reads for check in selected))),
        links=_once((SURVEY_LINKS, *(check.links for check in selected))),
        lists=_once(check.lists for check in selected),
        commands=_once(check.commands for check in selected),
    )


def _once(patterns: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(patterns)))
