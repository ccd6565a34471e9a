"""Running a module of this very Plimsoll in a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

# Not where the user happens to be: python -m would import modules from there.
WORKING_DIRECTORY = "/"


def module_argv(module: str, *arguments: str) -> tuple[str, ...]:
    """The command line of `python -m module`; to be started in WORKING_DIRECTORY."""
    return (sys.executable, "-m", module, *arguments)


def module_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` with this package found before any other of its name."""
    root = str(Path(__file__).parents[3])
    paths = [root, *filter(None, [environment.get("PYTHONPATH")])]
    return {**environment, "PYTHONPATH": os.pathsep.join(paths)}
