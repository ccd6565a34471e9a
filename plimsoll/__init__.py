"""Plimsoll finds, proves and explains the load line of a packet dataplane.

`open` and `open_all` read what was recorded; `trial`, `search`, `traffic` and `lab` do what
the commands of these names do (docs/python.md).
"""

from __future__ import annotations

import sys
from types import ModuleType

from plimsoll.version import VERSION as __version__

# As in typing, whose import would take ten times as long as all of this. Type checkers know it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from os import PathLike

    from plimsoll.analysis.run import Run
    from plimsoll.analysis.runs import Runs
    from plimsoll.analysis.trial import Trial
    from plimsoll.driving.chosen_experiment import AnyExperiment
    from plimsoll.driving.standing_lab import StandingLab
    from plimsoll.driving.traffic import Traffic

__all__ = ["__version__", "lab", "open", "open_all", "search", "traffic", "trial"]


def open(run: str | PathLike[str], *, runs: str | PathLike[str] = "runs") -> Run:
    """Open one run, in whatever state, by its path.

    Or, below the folder `runs`, by its id, the start of its id, or "last". Raises
    plimsoll.errors.InputError where there is no such run, or several begin so.
    """
    # Importing plimsoll has to cost next to nothing: every command and the agent do it.
    from plimsoll.analysis.runs import open_run  # noqa: PLC0415

    return open_run(run, runs)


def open_all(
    where: str | PathLike[str] | Iterable[str | PathLike[str]] = "runs", *, parts: bool = False
) -> Runs:
    """Open all runs in a folder, of a shell pattern such as "runs/2026*", or of several paths.

    Of each only its summary is read. Damaged runs are left out, with a warning, and are in
    the result's `damaged`. With `parts` a matrix run in a folder is followed by the runs it
    is made of. Raises plimsoll.errors.InputError where the folder cannot be read.
    """
    from plimsoll.analysis.runs import open_runs  # noqa: PLC0415

    return open_runs(where, parts=parts, stack_level=2)


def lab(lab: AnyExperiment, *, fields: Iterable[str] = ()) -> AbstractContextManager[StandingLab]:
    """A DUT, up for as long as a `with` lasts, to try things on.

    By its kind ("testpmd-memif"), or the one of an experiment (a path ending in .yaml), with
    the `fields` set as by --set ("lab.cpus=[2,3]"). It is taken down at the end, and after a
    kill as well. Raises plimsoll.errors.InputError and MachineError.
    """
    from plimsoll.driving.standing_lab import open_lab  # noqa: PLC0415

    return open_lab(lab, fields=fields)


def trial(
    experiment: AnyExperiment,
    load: str,
    duration: str = "5s",
    *,
    fields: Iterable[str] = (),
    runs: str | PathLike[str] = "runs",
    tell: Callable[[str], None] = print,
) -> Trial:
    """Run one trial at `load` per direction, such as "500kpps" or "60%", and open it.

    As `plimsoll trial` does; it is recorded in a folder below `runs`. `fields` are set in the
    experiment as by --set ("trial.drain=1s"). `tell` has notes and verdicts. Raises
    plimsoll.errors.InputError, MachineError and their kin.
    """
    from plimsoll.driving.runs import run_trial  # noqa: PLC0415

    return run_trial(experiment, load, duration, fields=fields, runs=runs, tell=tell)


def search(
    experiment: AnyExperiment,
    *,
    fields: Iterable[str] = (),
    runs: str | PathLike[str] = "runs",
    tell: Callable[[str], None] = print,
) -> Run:
    """Find the experiment's load line, validate it, and open the run.

    As `plimsoll run` does, which also goes on with it (--resume) where this was cut short, and
    as `trial` in all else.
    """
    from plimsoll.driving.runs import run_search  # noqa: PLC0415

    return run_search(experiment, fields=fields, runs=runs, tell=tell)


def traffic(
    experiment: AnyExperiment,
    *,
    fields: Iterable[str] = (),
    tell: Callable[[str], None] = print,
) -> AbstractContextManager[Traffic]:
    """The experiment's test bed, up for as long as a `with` lasts, to send its streams by hand.

    Nothing is recorded. Raises plimsoll.errors.InputError and MachineError.
    """
    from plimsoll.driving.traffic import open_traffic  # noqa: PLC0415

    return open_traffic(experiment, fields=fields, tell=tell)


# Three folders of this package, which are layers, have the names of these functions; importing
# one makes the name the folder's. So the folders can be called as well, and do the same.
_FUNCTIONS = {"search": search, "traffic": traffic, "trial": trial}


class _CallableFolder(ModuleType):
    """A folder whose name is a function's, too."""

    def __call__(self, *arguments: object, **options: object) -> object:
        name = self.__name__.rpartition(".")[2]
        return _FUNCTIONS[name](*arguments, **options)  # type: ignore[operator]


class _Package(ModuleType):
    """This package: what it is given by importing a folder stays callable."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _FUNCTIONS and isinstance(value, ModuleType):
            value.__class__ = _CallableFolder
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
