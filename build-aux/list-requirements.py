#!/usr/bin/env python3
"""Prints what pyproject.toml requires, one a line.

That is: what the build needs, what running needs, and what each extra named as an argument adds.
"""

import sys
import tomllib
from pathlib import Path


def requirements(pyproject: Path, extras: list[str]) -> list[str]:
    """Requirement specifiers in the file's order."""
    document = tomllib.loads(pyproject.read_text())
    project = document["project"]
    found = [*document["build-system"]["requires"], *project["dependencies"]]
    known = project["optional-dependencies"]
    if unknown := [extra for extra in extras if extra not in known]:
        sys.exit(f"no extra {', '.join(unknown)}: choose from {', '.join(sorted(known))}")
    for extra in extras:
        found += known[extra]
    return found


if __name__ == "__main__":
    root = Path(__file__).resolve().parent.parent
    print("\n".join(requirements(root / "pyproject.toml", sys.argv[1:])))
