"""Another user of this machine: "nobody", as whom only root may start programs."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root acts for another user")


def as_nobody(
    *words: object, environment: Mapping[str, str] | None = None, cwd: Path = Path("/")
) -> subprocess.CompletedProcess[str]:
    """A program of that user's, without any right of ours."""
    return subprocess.run(
        [str(word) for word in words],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def python_as_nobody(program: str, *words: object) -> subprocess.CompletedProcess[str]:
    """A Python program of that user's, of the standard library alone."""
    return as_nobody(sys.executable, "-I", "-S", "-c", program, *words)
