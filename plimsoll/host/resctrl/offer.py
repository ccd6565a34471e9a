"""What resctrl offers on this machine, said before an experiment asks for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.errors import MachineError
from plimsoll.host.resctrl.filesystem import LEAVE_OUT, Resctrl
from plimsoll.text.counted import counted


@dataclass(frozen=True, slots=True)
class ResctrlOffer:
    """What can be allocated, by the kernel's names of the resources, to how many groups.

    `problem` is why nothing can be, None where something can.
    """

    resources: tuple[str, ...] = ()
    free_groups: int = 0
    problem: str | None = None

    def in_words(self) -> str:
        """On a line: "usable: L3 (20 ways), MB; 14 groups free"."""
        if self.problem is not None:
            return f"not usable: {self.problem}"
        groups = counted(self.free_groups, "group")
        return f"usable: {', '.join(self.resources)}; {groups} free"


def resctrl_offer(find: Callable[[], Resctrl] = Resctrl.find) -> ResctrlOffer:
    """Looked at, and nothing changed."""
    try:
        resctrl = find()
    except MachineError as error:
        remedy = (error.remedy or "").removesuffix(f", {LEAVE_OUT}")
        return ResctrlOffer(problem=f"{error.message} ({remedy})")
    most = resctrl.most_groups
    if most is None:
        return ResctrlOffer(problem=f"{resctrl.root} monitors alone: the CPU has no CAT or MBA")
    if not os.access(resctrl.root, os.W_OK):
        reason = f"this user may not make groups in {resctrl.root} (run as root)"
        return ResctrlOffer(problem=reason)
    # The default group has one.
    free = most - 1 - len(resctrl.groups_that_count)
    if free <= 0:
        return ResctrlOffer(problem=f"all {most} classes of service have their groups already")
    return ResctrlOffer(_resources(resctrl), free)


def _resources(resctrl: Resctrl) -> tuple[str, ...]:
    caches = tuple(
        f"{name} ({counted(cache.cbm_mask.bit_count(), 'way')})"
        for name, cache in resctrl.caches.items()
    )
    return caches if resctrl.bandwidth is None else (*caches, "MB")
