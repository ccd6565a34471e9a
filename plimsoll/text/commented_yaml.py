"""YAML with a comment on the lines that need one, which PyYAML does not write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

# Text that needs no quotes unless it looks like a number, a date or a word of YAML's.
_PLAIN = re.compile(r"[A-Za-z0-9_./%+-][A-Za-z0-9_./%+:-]*")


@dataclass(frozen=True)
class Noted:
    """A value, and what is said about it at the end of its line."""

    value: Any
    note: str


def commented_yaml(document: Mapping[str, Any], heading: Sequence[str] = ()) -> str:
    """The document as YAML, with notes as comments, after a heading of comment lines.

    Mappings are written a field a line, lists of mappings an item a paragraph, and all else
    in one line.
    """
    lines = [f"# {line}".rstrip() for line in heading]
    for key, value in document.items():
        lines += ["", *_field(key, value, "")] if lines else _field(key, value, "")
    return "\n".join(lines) + "\n"


def _field(key: str, value: Any, indent: str) -> Iterator[str]:
    plain, note = (value.value, value.note) if isinstance(value, Noted) else (value, "")
    comment = f" # {_one_line(note)}" if note else ""
    if isinstance(plain, Mapping) and plain:
        yield f"{indent}{_flow(key)}:{comment}"
        for name, each in plain.items():
            yield from _field(name, each, f"{indent}  ")
    elif _is_list_of_mappings(plain):
        yield f"{indent}{_flow(key)}:{comment}"
        for each in plain:
            yield from _item(each, f"{indent}  ")
    else:
        yield f"{indent}{_flow(key)}: {_flow(plain)}{comment}"


def _item(item: Any, indent: str) -> Iterator[str]:
    plain, note = (item.value, item.note) if isinstance(item, Noted) else (item, "")
    if note:
        yield f"{indent}# {_one_line(note)}"
    lines = [line for name, each in plain.items() for line in _field(name, each, f"{indent}  ")]
    yield f"{indent}- {lines[0].lstrip()}"
    yield from lines[1:]


def _is_list_of_mappings(value: Any) -> bool:
    items = value if isinstance(value, list | tuple) else ()
    plain = [each.value if isinstance(each, Noted) else each for each in items]
    return bool(plain) and all(isinstance(each, Mapping) and each for each in plain)


def _flow(value: Any) -> str:
    """In one line, quoted where YAML would read something else."""
    if isinstance(value, Noted):
        return _flow(value.value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_flow(key)}: {_flow(each)}' for key, each in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_flow, value))}]"
    # Plain text that spans lines, or that ends a list, is quoted.
    quoted = isinstance(value, str) and not _PLAIN.fullmatch(value)
    text: str = yaml.safe_dump(value, default_style='"' if quoted else None, width=2**31)
    return text.removesuffix("\n").removesuffix("\n...")


def _one_line(note: str) -> str:
    """What a comment may hold: printable, and no line's end."""
    return "".join(each if each.isprintable() else " " for each in note)
