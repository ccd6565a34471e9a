"""Builds the engine's fuzzers with clang and runs each for some seconds.

Run it from the repository's root, or by `make fuzz`. What a fuzzer finds new stays in
build/fuzz/corpus for the next run, and the input that broke something in build/fuzz.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path("build/fuzz")
SOURCES = Path("engine/fuzz")
VECTORS = Path("engine/tests/vectors/requests")
# Sixteen pieces of a pipe's size; a full burst of short frames, or four jumbo ones; and a frame.
LONGEST_INPUT = {"control-reader": 65536, "receive": 40000, "host-frames": 1600}
# Many times what either needs: an input that takes this long hangs.
INPUT_TIMEOUT_S = 20
MEMORY_MB = 2048


STATISTIC = "stat::"
LAST_LINES = 60


def main() -> int:
    """Fuzz; 0, unless something failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=20, help="for each fuzzer (20)")
    seconds = parser.parse_args().seconds
    if missing := _missing():
        print(f"fuzzing is skipped: {missing}")
        return 0
    _build()
    for name in LONGEST_INPUT:
        _fuzz(name, seconds)
    return 0


def _missing() -> str | None:
    """Why there can be no fuzzing here, if there cannot."""
    if shutil.which("clang") is None:
        return "clang is missing"
    program = "int LLVMFuzzerTestOneInput(const char *data, long size) { return !data && size; }"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "fuzzer.c"
        source.write_text(program)
        output = ["-o", f"{folder}/fuzzer"]
        made = _run("clang", "-fsanitize=fuzzer,address,undefined", str(source), *output)
    if made.returncode != 0:
        return "clang's runtime is missing (in Debian libclang-rt-dev)"
    return None


def _run(
    *command: str, log: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a program; what it prints goes to `log`, or nowhere."""
    with (log or Path(os.devnull)).open("wb") as output:
        return subprocess.run(  # noqa: S603 - an argument vector, no shell
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            check=False,
        )


def _build() -> None:
    log = Path("build/fuzz.log")
    log.parent.mkdir(exist_ok=True)
    # The sanitizers' symbols come from clang's runtime only when a program is linked.
    options = ["-Dengine_fuzz=true", "-Db_sanitize=address,undefined", "-Db_lundef=false"]
    setup = ["meson", "setup", "--buildtype=debugoptimized", *options, str(BUILD)]
    targets = [f"engine/fuzz/fuzz-{name}" for name in LONGEST_INPUT]
    if not (BUILD / "build.ninja").exists():
        _check(_run(*setup, log=log, CC="clang"), log)
    _check(_run("meson", "compile", "-C", str(BUILD), *targets, log=log), log)


def _check(done: subprocess.CompletedProcess[bytes], log: Path) -> None:
    """Show the end of the log of what failed, and end."""
    if done.returncode != 0:
        print("\n".join(log.read_text(errors="replace").splitlines()[-LAST_LINES:]))
        sys.exit(f"{' '.join(done.args)}: failed, see {log}")


def _fuzz(name: str, seconds: int) -> None:
    corpus, seeds, log = BUILD / "corpus" / name, BUILD / "seeds" / name, BUILD / f"{name}.log"
    dictionary = SOURCES / f"{name.replace('-', '_')}.dict"
    corpus.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(seeds, ignore_errors=True)
    seeds.mkdir(parents=True)
    if name == "control-reader":
        _write_requests(seeds)
    print(f"fuzzing {name} for {seconds} s", flush=True)
    done = _run(
        str(BUILD / "engine/fuzz" / f"fuzz-{name}"),
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST_INPUT[name]}",
        f"-timeout={INPUT_TIMEOUT_S}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-artifact_prefix={BUILD}/{name}-",
        *([f"-dict={dictionary}"] if dictionary.exists() else []),
        *("-print_final_stats=1", str(corpus), str(seeds)),
        log=log,
    )
    _check(done, log)
    lines = log.read_text(errors="replace").splitlines()
    print("  " + ", ".join(line[len(STATISTIC) :] for line in lines if line.startswith(STATISTIC)))


def _write_requests(folder: Path) -> None:
    """The protocol's examples of requests, good and bad, each behind the byte for the pieces."""
    for path in sorted(VECTORS.glob("*request.jsonl")):
        for number, line in enumerate(path.read_text().splitlines()):
            message = json.loads(line)
            request = message.get("message", message)
            seed = b"\xff" + json.dumps(request).encode() + b"\n"
            (folder / f"{path.stem}-{number}").write_bytes(seed)


if __name__ == "__main__":
    sys.exit(main())
