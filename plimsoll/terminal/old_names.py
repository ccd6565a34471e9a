"""Names that commands had in the last version, which go on to work in this one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plimsoll.terminal.output import stderr

# What an old command is written as now; a value's place is behind it.
_OLD: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("noise",): ("osnoise",),
    ("otg",): ("serve", "otg"),
    ("trex-server",): ("serve", "trex"),
    ("bundle",): ("export", "--format", "bundle"),
    ("rfc2544",): ("test", "rfc2544"),
    ("rfc9004",): ("test", "rfc9004"),
    ("cluster", "list"): ("runs", "list", "--on"),
    ("cluster", "clean"): ("runs", "clean", "--on"),
}


def todays(args: Sequence[str], *, tell: bool) -> list[str]:
    """The words of a command as they are today; `tell` says on standard error what changed."""
    old = next((words for words in _OLD if tuple(args[: len(words)]) == words), ())
    now = _OLD.get(old, ())
    if old and tell:
        renamed(f"plimsoll {' '.join(old)}", f"plimsoll {' '.join(now)}")
    return [*now, *args[len(old) :]]


def renamed(old: str, now: str) -> None:
    """Say so, on standard error."""
    stderr.print(
        f"note: {old} is {now} from this version on; the old name goes with the next",
        soft_wrap=True,
        highlight=False,
        markup=False,
    )
