#!/usr/bin/env python3
"""Prints the manual page plimsoll(1): every command with its options, from what --help tells.

Needs plimsoll and its libraries on the module path.
"""

import inspect
import sys
from collections.abc import Iterator
from typing import Any

import typer

from plimsoll.cli.main import app
from plimsoll.version import VERSION


def escaped(text: str) -> str:
    """`text` as roff takes it: no line of it is a request, no character an escape."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "").replace("**", "")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Each command below `group` with the words that call it, groups before what they hold."""
    context = typer.Context(group, info_name=path)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command.hidden:
            continue
        words = f"{path} {name}"
        yield words, command
        if hasattr(command, "list_commands"):
            yield from commands(command, words)


def paragraphs(text: str | None) -> Iterator[str]:
    """The help's paragraphs; those after click's form feed are for nobody to see."""
    for each in inspect.cleandoc(text or "").split("\f")[0].split("\n\n"):
        if each.strip():
            yield ".PP"
            yield escaped(each.strip())


def options(command: Any, words: str) -> Iterator[str]:
    """A tagged paragraph for each argument and option."""
    context = typer.Context(command, info_name=words)
    for parameter in command.params:
        record = parameter.get_help_record(context)
        # Arguments and options that are hidden, or of which nothing is to be said.
        if record is not None:
            yield from (".TP", f".B {escaped(record[0])}", escaped(record[1]) or "\\&")


def page() -> Iterator[str]:
    """The page's lines."""
    group = typer.main.get_command(app)
    yield f'.TH PLIMSOLL 1 "" "plimsoll {VERSION}" "User Commands"'
    yield from (".SH NAME", "plimsoll \\- find, prove and explain a dataplane's load line")
    yield from (".SH SYNOPSIS", ".B plimsoll", ".I COMMAND", "[\\fIOPTION\\fR]...")
    yield from (".SH DESCRIPTION", *paragraphs(group.help))
    yield from options(group, "plimsoll")
    yield ".SH COMMANDS"
    for words, command in commands(group, "plimsoll"):
        yield f'.SS "{escaped(words)}"'
        yield from paragraphs(command.help)
        yield from options(command, words)
    yield ".SH SEE ALSO"
    yield "The pages and examples in /usr/share/doc/plimsoll."


if __name__ == "__main__":
    sys.stdout.write("\n".join(page()) + "\n")
