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
    for extra in extras:
        found += project["optional-dependencies"][extra]
    return found


if __name__ == "__main__":
    root = Path(__file__).resolve().parent.parent
    print("\n".join(requirements(root / "pyproject.toml", sys.argv[1:])))
