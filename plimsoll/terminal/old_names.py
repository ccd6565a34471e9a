"""Names that commands had in the last version, which go on to work in this one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plimsoll.terminal.output import stderr

# By its first word, what an old command is written as now; a value's place is behind it.
_OLD: Mapping[str, tuple[str, ...]] = {
    "noise": ("osnoise",),
    "otg": ("serve", "otg"),
    "trex-server": ("serve", "trex"),
    "bundle": ("export", "--format", "bundle"),
    "rfc2544": ("test", "rfc2544"),
    "rfc9004": ("test", "rfc9004"),
}
_OF_CLUSTER: Mapping[str, tuple[str, ...]] = {
    "list": ("runs", "list", "--on"),
    "clean": ("runs", "clean", "--on"),
}


def todays(args: Sequence[str], *, tell: bool) -> list[str]:
    """The words of a command as they are today; `tell` says on standard error what changed."""
    match args:
        case ["cluster", ("list" | "clean") as what, *rest]:
            old, now = f"plimsoll cluster {what}", _OF_CLUSTER[what]
        case [str() as first, *rest] if first in _OLD:
            old, now = f"plimsoll {first}", _OLD[first]
        case _:
            return list(args)
    if tell:
        renamed(old, f"plimsoll {' '.join(now)}")
    return [*now, *rest]


def renamed(old: str, now: str) -> None:
    """Say so, on standard error."""
    stderr.print(
        f"note: {old} is {now} from this version on; the old name goes with the next",
        soft_wrap=True,
        highlight=False,
        markup=False,
    )
