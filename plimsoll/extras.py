"""The optional dependencies of pyproject.toml, and what adds them to how Plimsoll was installed.

Never a name for the Python package index alone: nothing of ours is there, and `plimsoll` there is
another project.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from plimsoll.errors import MachineError
from plimsoll.version import VERSION

DISTRIBUTION = "plimsoll-dataplane"
_OTHER_PROJECT = "plimsoll"


def added_by(extra: str) -> str:
    """The command that adds an extra to this installation."""
    checkout = Path(sys.prefix).parent
    if (checkout / "build-aux" / "install-extras").is_file():
        return f"make -C {checkout} build EXTRAS={extra}"
    return (
        f"{sys.executable} -m pip install 'FILE[{extra}]', where FILE is the wheel or sdist of "
        f"Plimsoll {VERSION}"
    )


def check_only_ours() -> None:
    """Raise MachineError where another project's package of the same import name is there, too."""
    try:
        theirs = distribution(_OTHER_PROJECT)
    except PackageNotFoundError:
        return
    raise MachineError(
        f"another project's package {_OTHER_PROJECT} {theirs.version} is in this environment and "
        "may have replaced files of ours, for both have the import name plimsoll",
        where=sys.prefix,
        remedy=f"{sys.executable} -m pip uninstall {_OTHER_PROJECT}, and install "
        f"{DISTRIBUTION} anew",
    )
