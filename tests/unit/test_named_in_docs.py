"""What the documentation names is there: files, modules, commands and their options."""

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from plimsoll.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = [
    *(
        ROOT / name
        for name in ("README.md", "CONTRIBUTING.md", "packages/plimsoll-search/README.md")
    ),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "engine").rglob("*.md")),
]
OURS = r"(?:plimsoll|tests|engine|benchmarks|packages|build-aux|examples|docs)"
PATH = re.compile(rf"{OURS}/[\w./-]+")
MODULE = re.compile(r"plimsoll(?:\.\w+)+")
SPAN = re.compile(r"`([^`\n]+)`")
# All commands are no group whose command may be left out.
MAX_OF_A_GROUP = 12
# Of others' repositories, and labels of Kubernetes'.
OTHERS = {
    "docs/churn.md": {"plimsoll/streams"},
    "docs/kubernetes.md": {"plimsoll/run", "plimsoll/run-id"},
    "docs/otg.md": {"examples/test_quickstart.py"},
    "docs/trex.md": {"tests/many_streams.py", "tests/multi_core_test.py"},
}
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def spans(page: Path) -> Iterator[str]:
    """The code in a page's sentences and tables."""
    yield from SPAN.findall(BLOCK.sub("", page.read_text()))


def command_lines(page: Path) -> Iterator[str]:
    """What begins with `plimsoll`, in sentences and in blocks of a shell."""
    text = page.read_text()
    yield from (each for each in spans(page) if each.startswith("plimsoll "))
    for language, block in BLOCK.findall(text):
        if language in ("", "sh", "console", "shell", "bash"):
            whole = block.replace("\\\n", " ")
            for line in whole.splitlines():
                bare = line.strip().removeprefix("$ ").removeprefix("sudo ")
                if bare.startswith("plimsoll "):
                    yield bare


def words_of(line: str) -> list[str]:
    """Up to a pipe, a comment or another command."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = line.split()
    ends = [at for at, word in enumerate(words) if word in ("|", "&&", ";", "&", "--", "…", ">")]
    return words[1 : min(ends, default=len(words))]


def options_of(command: Any) -> dict[str, bool]:
    """Its options, and of a group those of its commands, one of which may be left out.

    Each with whether a value follows.
    """
    below = command.list_commands(None) if hasattr(command, "list_commands") else ()
    found = (
        {}
        if len(below) > MAX_OF_A_GROUP
        else {
            name: takes
            for each in below
            for name, takes in options_of(command.get_command(None, each)).items()
        }
    )
    return found | {
        opt: not getattr(each, "is_flag", False)
        for each in command.params
        for opt in (*each.opts, *each.secondary_opts)
    }


def unknown_in(line: str) -> list[str]:
    """Commands and options of a line that there are not."""
    command, found, words = get_command(app), [], iter(words_of(line))
    known = {"--help": False, **options_of(command)}
    for word in words:
        if word.startswith("-"):
            name, has_value, _ = word.partition("=")
            if re.fullmatch(r"--[a-z][\w-]*", name) and name not in known:
                found.append(name)
            if known.get(name) and not has_value:
                next(words, None)
        elif hasattr(command, "list_commands") and re.fullmatch(r"[a-z][\w-]*", word):
            if (below := command.get_command(None, word)) is None:
                return [*found, word]
            command = below
            known |= options_of(command)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_are_there(page: Path) -> None:
    named = {each.rstrip("./") for each in spans(page) if PATH.fullmatch(each)}
    named -= OTHERS.get(page.relative_to(ROOT).as_posix(), set())
    assert sorted(each for each in named if not (ROOT / each).exists()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_modules_are_there(page: Path) -> None:
    for name in {each for each in spans(page) if MODULE.fullmatch(each)}:
        module, _, attribute = name.rpartition(".")
        file = ROOT / name.replace(".", "/")
        if not (file.is_dir() or file.with_suffix(".py").exists()):
            assert hasattr(import_module(module), attribute), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_and_options_are_there(page: Path) -> None:
    found = {line: unknown for line in command_lines(page) if (unknown := unknown_in(line))}
    assert found == {}


STEPS = ROOT / "docs/a-load-line-in-code.md"
STEP = re.compile(r"^\| ((?:`[\w.]+(?:\(\))?`,? ?)+) \|.*\| `([\w/.-]+)` \|$", re.MULTILINE)


def test_what_a_step_names_is_in_its_file() -> None:
    steps = STEP.findall(STEPS.read_text())
    assert len(steps) > 30
    missing = [
        (name, file)
        for names, file in steps
        for name in re.findall(r"\w+(?=(?:\(\))?`)", names)
        if re.search(rf"^(?:\s*(?:def|class) )?{name}\b[^;\n]*$", (ROOT / file).read_text(), re.M)
        is None
    ]
    assert missing == []
