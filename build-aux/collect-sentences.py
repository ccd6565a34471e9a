#!/usr/bin/env python3
"""Writes every sentence that a user can meet into one file: `collect-sentences.py FILE`.

It is for a reader who has never seen the code and marks what stops them. Each group has a heading
with its file or command; a sentence that occurs twice is kept where it occurs first.
Needs plimsoll and its libraries on the module path.
"""

import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator
from html import unescape
from itertools import chain
from pathlib import Path
from typing import Any

import typer

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.churn.settings import ChurnExperiment
from plimsoll.cli.main import app
from plimsoll.dut.registry.labs import lab_kinds
from plimsoll.generator.registry.generators import generator_listings
from plimsoll.methods.plugfest.document import PlugfestSettings
from plimsoll.observe.agent.registry import OBSERVERS
from plimsoll.record.schemas import published
from plimsoll.tune.audit.audit import all_checks
from plimsoll.tune.cluster.cluster_audit import all_cluster_checks
from plimsoll.tune.intent.intent import Intent

ROOT = Path(__file__).resolve().parents[1]
# A heading and the texts below it.
Group = tuple[str, Iterable[str]]
# Attributes that a browser shows or a screen reader reads out.
ATTRIBUTE = re.compile(r'(?:alt|aria-label|data-confirm|data-waits|placeholder|title)="([^"]*)"')
# Jinja's statements are dropped; its values, and JavaScript's, become an ellipsis.
STATEMENT = re.compile(r"\{#.*?#\}|\{%.*?%\}", re.DOTALL)
VALUE = re.compile(r"\{\{.*?\}\}|\$\{[^{}]*\}", re.DOTALL)
UNREAD = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->", re.DOTALL)
INLINE = re.compile(r"</?(?:a|abbr|b|code|em|i|kbd|small|strong|sub|sup)\b[^>]*>")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'|`((?:[^`\\]|\\.)*)`')
COMMENT = re.compile(r"^\s*//[^\n]*$|/\*.*?\*/", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`]*`")
FENCE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
# `#` too: `plimsoll init` writes YAML whose comments are sentences.
END_OF_SENTENCE = re.compile(r"(?<=[.?!]) +(?=[A-Z`\"])|(?:^| +)#+(?: +|$)")
WORD = re.compile(r"(?<![\w./-])[A-Za-z][a-z']*(?![\w/-]|\.\w)")
# A longer line is a whole table of a page: tests/wording holds its text without markup.
LONGEST = 700


def sentences(text: str) -> Iterator[str]:
    """Splits a text into sentences; each line is a paragraph. Fewer than two words are none."""
    for line in text.splitlines():
        for each in END_OF_SENTENCE.split(" ".join(line.split())):
            words = WORD.findall(each) if WORD.search(CODE.sub("", each)) else ()
            if len(words) > 1 and len(each) < LONGEST:
                yield each


def twin(sentence: str) -> str:
    """A key: sentences that differ only in field, numbers, a quoted word or case share it."""
    return re.sub(r"'[^' ]*'|\d[\d.,]*", "0", re.sub(r"^[\w-]+: ", "", sentence)).casefold()


def commands(command: Any, words: str) -> Iterator[Group]:
    """The help of a command and of all its subcommands, hidden ones left out."""
    context = typer.Context(command, info_name=words)
    yield words, command_help(command, context)
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if not below.hidden:
                yield from commands(below, f"{words} {name}")


def command_help(command: Any, context: Any) -> Iterator[str]:
    """The paragraphs of its help, then each option and argument that has a help text."""
    for paragraph in inspect.cleandoc(command.help or "").split("\f")[0].split("\n\n"):
        yield " ".join(paragraph.split())
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            yield f"{record[0]}: {record[1]}"


def schemas() -> Iterator[Group]:
    """Field descriptions: of published schemas, and of the documents that users write."""
    for name, model in published().items():
        yield f"{name}.schema.json", descriptions(model.model_json_schema(mode="serialization"))
    for name, model in (
        ("intent", Intent),
        ("experiment", Experiment),
        ("churn", ChurnExperiment),
        ("plugfest", PlugfestSettings),
    ):
        yield f"fields of: {name}", descriptions(model.model_json_schema())
    path = ROOT / "docs/schemas/engine-protocol.schema.json"
    yield path.name, descriptions(json.loads(path.read_bytes()))


def descriptions(schema: Any, name: str = "") -> Iterator[str]:
    """Every description in a JSON Schema, prefixed with its field's name."""
    if isinstance(schema, list):
        for each in schema:
            yield from descriptions(each, name)
    elif isinstance(schema, dict):
        if isinstance(said := schema.get("description"), str):
            for paragraph in said.split("\n\n"):
                yield f"{name}: {' '.join(paragraph.split())}".removeprefix(": ")
        for key, each in schema.items():
            named = isinstance(each, dict) and key not in ("properties", "$defs", "items")
            yield from descriptions(each, key if named else name)


def kinds() -> Iterator[Group]:
    """One line for each lab, generator and observer; title, reason and fix of each check."""
    yield "plimsoll lab list", lab_kinds().values()
    yield "plimsoll generators", (each.summary for each in generator_listings())
    yield "observers", (f"{each.source}: {each.summary}" for each in OBSERVERS)
    for page, members in (("tuning.md", all_checks()), ("tuning-cluster.md", all_cluster_checks())):
        yield page, (text for each in members for text in (each.title, each.why, each.fix))


def page_words(template: str) -> Iterator[str]:
    """The words of a Jinja template: between tags, in attributes and in string literals."""
    template = UNREAD.sub("", template)
    for expression in (*STATEMENT.findall(template), *VALUE.findall(template)):
        if not expression.startswith("{#"):
            yield from literals(expression)
    plain = VALUE.sub("…", STATEMENT.sub("", template))
    yield from (unescape(each) for each in ATTRIBUTE.findall(plain))
    yield from unescape(re.sub(r"<[^>]*>", "\n", INLINE.sub("", plain))).splitlines()


def literals(source: str) -> Iterator[str]:
    """String literals of more than two words; values become an ellipsis."""
    for found in LITERAL.finditer(COMMENT.sub("", source)):
        text = VALUE.sub("…", next(filter(None, found.groups()), ""))
        if len(WORD.findall(text)) > 2:
            yield text


def held_wordings(text: str) -> Iterator[str]:
    """The wordings in a file of tests/wording: its indented lines."""
    return (line.strip() for line in text.splitlines() if line.startswith("    "))


def document_parts(markdown: str) -> Iterator[str]:
    """Headings, the first paragraph below each, and table cells, which describe the fields."""
    first = False
    without_links = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", FENCE.sub("", markdown))
    for block in without_links.split("\n\n"):
        for line in block.strip().splitlines():
            if line.startswith("#"):
                first = True
                yield line.lstrip("# ")
            elif line.startswith("|"):
                yield from (cell.strip() for cell in re.split(r"(?<!\\)\|", line))
            elif first:
                yield line
                first = False


def files() -> Iterator[Group]:
    """Files of the checkout that contain sentences."""
    for pattern, read in (
        ("tests/wording/*.txt", held_wordings),
        ("plimsoll/report/templates/*.j2", page_words),
        ("plimsoll/web/pages/templates/*.j2", page_words),
        ("plimsoll/web/static/*.js", literals),
        ("README.md", document_parts),
        ("docs/*.md", document_parts),
    ):
        for path in sorted(ROOT.glob(pattern)):
            yield path.relative_to(ROOT).as_posix(), read(path.read_text(encoding="utf-8"))


def collected(groups: Iterable[Group]) -> Iterator[str]:
    """The lines of the output file; a heading without a new sentence is left out."""
    known: set[str] = set()
    for heading, texts in groups:
        lines = ["", f"== {heading} ==", ""]
        for each in chain.from_iterable(map(sentences, texts)):
            if (key := twin(each)) not in known:
                known.add(key)
                lines.append(each)
        if len(lines) > 3:
            yield from lines


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: collect-sentences.py FILE")
    groups = chain(commands(typer.main.get_command(app), "plimsoll"), kinds(), schemas(), files())
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(collected(groups)).lstrip() + "\n", encoding="utf-8")
