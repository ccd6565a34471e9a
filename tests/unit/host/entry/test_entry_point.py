"""How programs end that did not catch an error: never with 1, and never with a bare traceback."""

import ast
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.host.entry.uncaught import TRACEBACK_VARIABLE
from tests.unit.own_modules import OWN_MODULES, PACKAGE, ROOT
from tests.worded.says import Says

PROGRAM = """
import errno, os, signal, sys, threading, time
from plimsoll import errors
from plimsoll.host.entry.entry_point import enter

class Wordless(Exception):
    def __str__(self):
        raise ValueError("no words")

def program():
{body}

enter(program)
"""
# They import nothing of Plimsoll's: one is to be another program in a millisecond, one runs in
# TRex's own Python, and one does nothing at all.
ALONE = {"neighbours/placed.py", "generator/trex/driver.py", "cluster/pods/sleeper.py"}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    known = {name: text for name, text in os.environ.items() if name != TRACEBACK_VARIABLE}
    return {**known, "PYTHONPATH": str(ROOT), "PLIMSOLL_STATE": str(tmp_path / "state")}


def run(
    body: str, environment: dict[str, str], **options: object
) -> subprocess.CompletedProcess[str]:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(body=lines)],
        env=environment,
        check=False,
        text=True,
        **{"capture_output": True, **options},  # type: ignore[call-overload]
    )
    return done


@pytest.mark.parametrize(
    ("body", "status", "facts"),
    [
        ("return None", 0, None),
        ("return 5", 5, None),
        ("sys.exit(1)", 1, None),
        ("raise KeyError('x[/y]')", 7, ("KeyError", "x[/y]")),
        ("raise RecursionError('too deep')", 7, ("RecursionError", "deep")),
        ("raise Wordless", 7, ("Wordless",)),
        ("raise BrokenPipeError(errno.EPIPE, 'Broken pipe')", 7, ("BrokenPipeError",)),
        ("import plimsoll.nothing", 7, ("ModuleNotFoundError",)),
        ("sys.exit('in words')", 7, ("in words",)),
        ("raise MemoryError", 3, ()),
        ("raise OSError(errno.EMFILE, 'Too many open files', 'a')", 3, ("a: Too many open files",)),
        (
            "raise PermissionError(errno.EACCES, 'Permission denied', 'a')",
            3,
            ("a: Permission denied",),
        ),
        ("open('/proc/none')", 3, ("/proc/none",)),
        ('raise RuntimeError("can\'t start new thread")', 3, ("thread",)),
        ("raise errors.InputError('no', where='here', remedy='do')", 2, ("here", "no", "do")),
        ("raise errors.Interrupted('SIGTERM')", 130, ()),
        ("os.kill(os.getpid(), signal.SIGINT); time.sleep(60)", 130, ()),
    ],
)
def test_each_end_has_its_status_and_its_sentence(
    environment: dict[str, str], body: str, status: int, facts: tuple[str, ...] | None, says: Says
) -> None:
    done = run(body, environment)
    assert done.returncode == status
    if facts is None:
        assert done.stderr == ""
        return
    assert done.stderr == says(*facts)
    assert "Traceback" not in done.stderr


def test_a_fault_tells_where_its_traceback_is(environment: dict[str, str]) -> None:
    done = run("raise KeyError('k')", environment)
    kept = Path(environment["PLIMSOLL_STATE"]) / ".last-traceback.txt"
    assert str(kept) in done.stderr
    assert kept.read_text().rstrip().endswith("KeyError: 'k'")


def test_the_traceback_is_shown_where_it_is_requested(
    environment: dict[str, str], says: Says
) -> None:
    done = run("raise KeyError('k')", {**environment, TRACEBACK_VARIABLE: "1"})
    assert done.returncode == 7
    assert done.stderr == says("k", "KeyError")


def test_a_state_folder_that_cannot_be_is_no_further_fault(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    done = run("raise KeyError('k')", {**environment, "PLIMSOLL_STATE": str(tmp_path / "file/x")})
    assert done.returncode == 7
    assert f"{TRACEBACK_VARIABLE}=1 shows" in done.stderr


@pytest.mark.parametrize(
    ("ends", "status"), [("return 0", 7), ("return 1", 7), ("return 2", 2), ("return 5", 5)]
)
def test_a_fault_in_a_thread_leaves_no_answer(
    environment: dict[str, str], ends: str, status: int, says: Says
) -> None:
    begin = "t = threading.Thread(target=lambda: [][1], name='watcher')\nt.start()\nt.join()\n"
    done = run(begin + ends, environment)
    assert done.returncode == status
    assert done.stderr == says("watcher")


def test_a_signal_while_an_object_is_deleted_is_not_lost(environment: dict[str, str]) -> None:
    body = """
class Loud:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)

def end(*_):
    raise errors.Interrupted("SIGTERM")

signal.signal(signal.SIGTERM, end)
Loud()
time.sleep(60)
"""
    done = run(body, environment)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def test_an_error_while_one_is_told_is_told(environment: dict[str, str]) -> None:
    body = "try:\n    [][1]\nexcept IndexError:\n    raise LookupError('second')"
    done = run(body, environment)
    assert done.returncode == 7
    assert "LookupError: second" in done.stderr


def test_who_stops_reading_changes_no_status(environment: dict[str, str]) -> None:
    for status in (0, 1, 5):
        reader, writer = os.pipe()
        os.close(reader)
        body = f"print('x' * 100_000)\nprint('y')\nreturn {status}"
        with open(writer, "w") as gone:
            done = run(body, environment, capture_output=False, stdout=gone, stderr=gone)
        assert done.returncode == status


@pytest.mark.parametrize("at_the_end", [False, True])
def test_output_that_cannot_be_written_is_an_error(
    environment: dict[str, str], says: Says, *, at_the_end: bool
) -> None:
    body = "print('x')" if at_the_end else "print('x', flush=True)"
    with open("/dev/full", "w") as full:
        done = run(body, environment, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 3
    assert done.stderr == says()


def test_words_for_a_full_standard_error_are_dropped(environment: dict[str, str]) -> None:
    with open("/dev/full", "w") as full:
        done = run(
            "print('a', file=sys.stderr)\nprint('b')",
            environment,
            capture_output=False,
            stdout=subprocess.PIPE,
            stderr=full,
        )
    assert (done.returncode, done.stdout) == (0, "b\n")


def test_a_closed_descriptor_is_not_where_the_next_file_goes(
    environment: dict[str, str], tmp_path: Path
) -> None:
    body = f"f = open({str(tmp_path / 'journal')!r}, 'w')\nprint('lost')\nreturn f.fileno()"
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    program = PROGRAM.format(body=lines)
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", program],
        env=environment,
        check=False,
    )
    assert done.returncode >= 3
    assert (tmp_path / "journal").read_text() == ""


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("ascii", rb"\u03bcs \ud83d\udea2 \u00e4"),
        ("latin-1", b"\\u03bcs \\ud83d\\udea2 \xe4"),
        ("koi8-r", rb"\u03bcs \ud83d\udea2 \u00e4"),
        ("utf-8", "\u03bcs \U0001f6a2 \u00e4".encode()),
    ],
)
def test_what_a_terminal_has_no_character_for_is_written_as_in_json(
    environment: dict[str, str], encoding: str, written: bytes
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(body='    print("\\u03bcs \\U0001f6a2 \\u00e4")')],
        env={**environment, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, written + b"\n", b"")


def programs() -> Iterator[tuple[str, ast.If]]:
    """Every module that runs as a program, with what it then does."""
    for module in OWN_MODULES:
        source = module.read_text()
        if "__main__" in source:
            for node in ast.parse(source).body:
                if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test):
                    yield module.relative_to(PACKAGE).as_posix(), node


def test_every_program_is_entered_by_the_one_place() -> None:
    found = dict(programs())
    assert len(found) > 15
    entered = {name for name, node in found.items() if "enter(" in ast.unparse(node)}
    # Theirs is called by an installed command as well.
    by_main = {"__main__.py", "cli/__main__.py", "observe/__main__.py"}
    assert found.keys() - entered == by_main | ALONE


def test_every_installed_command_is_entered_by_it() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    for place in scripts.values():
        module, name = place.split(":")
        tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text())
        (main,) = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
        assert ast.unparse(main.body[-1]).startswith("enter(")
