"""The command in a process that is forked with its modules loaded, not started: it saves seconds.

The interpreter's start and the imports, a user's too, are in the tests that start the command
themselves, such as those that kill it.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from plimsoll.cli.main import main

_PATIENCE_S = 300
# pytest too, for a child imports what its parent was started as.
_LOADED = ["pytest", "tests.integration.loaded_commands"]


def run_warm(
    words: Sequence[object], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """`plimsoll` with these words: its exit code, negative for a signal, and its output."""
    given = [str(word) for word in words]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_LOADED)
    with tempfile.TemporaryDirectory() as outputs:
        streams = (Path(outputs, "stdout"), Path(outputs, "stderr"))
        process = context.Process(target=_command, args=(given, folder, dict(environment), streams))
        process.start()
        process.join(_PATIENCE_S)
        out, err = (each.read_text() if each.exists() else "" for each in streams)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(given, _PATIENCE_S, out, err)
        return subprocess.CompletedProcess(given, process.exitcode, out, err)


def _command(
    words: list[str], folder: Path, environment: dict[str, str], streams: tuple[Path, Path]
) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate(streams, start=1):
        file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(file, number)
        os.close(file)
    sys.argv = ["plimsoll", *words]
    main()
