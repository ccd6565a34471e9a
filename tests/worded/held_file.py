"""One file of tests/wording: what the program says in some tests, as text to be reviewed.

    # tests/unit/text/test_units.py

    ## test_a_rate_needs_its_unit

    [5]
        '5' is not a rate
        remedy: write it as in 5kpps

A module, a test, its parameters in brackets, and what is said, indented. A test that holds
several wordings has them numbered, from the second on.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "wording"
_INDENT = "    "


@dataclass(frozen=True, order=True)
class Entry:
    """Where a wording stands: `number` is its place among those of one test, from 1."""

    module: str
    test: str
    parameters: str = ""
    number: int = 1

    @property
    def item(self) -> tuple[str, str, str]:
        """The test with its parameters."""
        return self.module, self.test, self.parameters


def read(path: Path) -> dict[Entry, str]:
    """All entries of a file; of one that is not there, none."""
    if not path.exists():
        return {}
    found: dict[Entry, list[str]] = {}
    module = test = ""
    entry = Entry(module, test)
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("## "):
            test = line[3:]
            entry = Entry(module, test)
        elif line.startswith("# "):
            module = line[2:]
        elif line.startswith("["):
            entry = Entry(module, test, *_bracketed(line))
        elif line.startswith(_INDENT) or (not line and entry in found):
            found.setdefault(entry, []).append(line.removeprefix(_INDENT))
    return {entry: "\n".join(lines).rstrip("\n") for entry, lines in found.items()}


def _bracketed(line: str) -> tuple[str, int]:
    """The parameters and the number of `[parameters]`, `[parameters] (2)` or `[] (2)`."""
    inside, _, number = line.rpartition("]")
    return inside[1:], int(number.strip(" ()") or 1)


def write(path: Path, entries: Mapping[Entry, str]) -> None:
    """In the order of their names; where there are none, no file stays."""
    if not entries:
        path.unlink(missing_ok=True)
        return
    text = "\n".join(_lines(entries)) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _lines(entries: Mapping[Entry, str]) -> Iterable[str]:
    module = test = ""
    for entry in sorted(entries):
        if entry.module != module:
            yield from ([""] if module else [])
            yield f"# {entry.module}"
            module, test = entry.module, ""
        if entry.test != test:
            yield from ("", f"## {entry.test}")
            test = entry.test
        yield ""
        if entry.parameters or entry.number > 1:
            yield f"[{entry.parameters}]" + (f" ({entry.number})" if entry.number > 1 else "")
        for line in entries[entry].split("\n"):
            yield f"{_INDENT}{line}".rstrip()
