"""Plimsoll finds, proves and explains the load line of a packet dataplane.

`open` and `open_all` read what was recorded (docs/python.md).
"""

from __future__ import annotations

from plimsoll.version import VERSION as __version__

# As in typing, whose import would take ten times as long as all of this. Type checkers know it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from plimsoll.analysis.run import Run
    from plimsoll.analysis.runs import Runs

__all__ = ["__version__", "open", "open_all"]


def open(run: str | PathLike[str], *, runs: str | PathLike[str] = "runs") -> Run:
    """Open one run, in whatever state, by its path.

    Or, below the folder `runs`, by its id, the beginning of its id, or "last". Raises
    plimsoll.errors.InputError where there is no such run, or several begin so.
    """
    # Importing plimsoll has to cost next to nothing: every command and the agent do it.
    from plimsoll.analysis.opening import open_run  # noqa: PLC0415

    return open_run(run, runs)


def open_all(
    where: str | PathLike[str] | Iterable[str | PathLike[str]] = "runs", *, parts: bool = False
) -> Runs:
    """Open all runs in a folder, of a shell pattern such as "runs/2026*", or of several paths.

    Of each only its summary is read. Damaged runs are left out, with a warning, and are in
    the result's `damaged`. With `parts` a matrix run in a folder is followed by the runs it
    is made of. Raises plimsoll.errors.InputError where the folder cannot be read.
    """
    from plimsoll.analysis.opening import open_runs  # noqa: PLC0415

    return open_runs(where, parts=parts, stack_level=2)
