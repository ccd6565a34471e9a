"""Identifiers are the field's terms, and one name stands for one concept."""

import ast
import re
from collections.abc import Iterator

from tests.unit.own_modules import OWN_MODULES, ROOT

FOLDERS = ("plimsoll", "packages", "engine", "benchmarks")
# Searches ask and are told, as in the literature on optimisation.
EXEMPT = ("packages/plimsoll-search/", "plimsoll/methods/load_line/", "benchmarks/search/")
INSTEAD = {
    "told": "message, answer or reported",
    "asked": "settings, request or requested",
    "wanted": "expected or selected",
    "beside": "background, or next to",
    "besides": "also",
    "doubt": "warning",
    "death": "failure",
    "deaths": "failures",
    "surroundings": "environment",
    "meant": "expected or matching",
    "gist": "summary",
    "watcher": "listener",
    "keeper": "owner",
    "mend": "fix",
    "nobody": "none",
    "somebody": "other",
    "whoever": "caller, reader or owner",
}
# The same in what people read: messages, pages, comments. "Told" is a class of the searches.
PROSE = re.compile(
    r"\b(?:told|asked|meanwhile|wanted|besides?|nobody|somebody|who(?:m)?ever|mend(?:s|ed|ing)?"
    r"|keeper|watcher|doubts?|surroundings|gist|disorder|deaths?|frames of others|is no valid"
    r"|in use, by)\b"
    r"|\bsays not\b"
)
READ = ("*.py", "*.j2", "*.c", "*.h")
# The account of no one: its name is "nobody".
NAMES = ("plimsoll/export/redaction/redacted_run.py",)


def _defined(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name


def _words(identifier: str) -> list[str]:
    # What the kernel calls it: PR_SET_PDEATHSIG.
    identifier = identifier.replace("parent_death_signal", "")
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", identifier)]


def test_identifiers_are_in_the_terms_of_the_field() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}: write {INSTEAD[word]}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not path.relative_to(ROOT).as_posix().startswith(EXEMPT)
        for line, name in (*_defined(ast.parse(path.read_bytes())), (1, path.stem))
        for word in _words(name)
        if word in INSTEAD
    ]
    assert not found, "\n".join(found)


def test_what_people_read_is_in_the_terms_of_the_field() -> None:
    found = [
        f"{name}:{number}: {word.group()}"
        for folder in ("plimsoll", "packages", "engine/src")
        for pattern in READ
        for path in sorted((ROOT / folder).rglob(pattern))
        if not (name := path.relative_to(ROOT).as_posix()).startswith((*EXEMPT, *NAMES))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (word := PROSE.search(line))
    ]
    assert not found, "\n".join(found)


def _public_types(tree: ast.Module) -> Iterator[str]:
    """The classes and named types of a module; a type variable is a stand-in, and no concept."""
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ) if name[0].isupper() and not name.isupper():
                if not (isinstance(value, ast.Call) and ast.unparse(value.func) == "TypeVar"):
                    yield name


def test_one_name_is_one_concept() -> None:
    places: dict[str, list[str]] = {}
    for path in OWN_MODULES:
        for name in _public_types(ast.parse(path.read_bytes())):
            if not name.startswith("_"):
                places.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
