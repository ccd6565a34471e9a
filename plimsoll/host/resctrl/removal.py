"""Removes a run's resctrl groups, also after it was killed: the ledger runs this as a module.

`python -m plimsoll.host.resctrl.removal ROOT BEFORE GROUP …`: GROUPs are directories in ROOT;
BEFORE is a JSON list of the default group's schemata lines as they were.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from plimsoll.host.entry.entry_point import enter
from plimsoll.host.resctrl.filesystem import Resctrl

# What marks a group as ours, whatever a ledger says.
_PREFIX = "plimsoll-"


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
