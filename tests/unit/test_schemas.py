"""Published schemas say what each property is; the engine protocol's vectors keep to its own."""

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema_specifications import REGISTRY

from tests.unit.record.published import PUBLISHED, schema_of

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = schema_of("engine-protocol")
# The end of a property's name, and how its description says that unit.
UNITS = {
    "_s": r"in s\b",
    "_ns": r"in ns\b",
    "_us": r"in µs\b|microseconds",
    "_pps": r"per second|in pps",
    "_hz": r"a second",
    "_bps": r"[Bb]its per second",
    "_mbps": r"Mbps",
    "_gbps": r"Gbps",
    "_khz": r"kHz",
    "_mb": r"in MB",
    "_bytes": r"in bytes",
    "_tsc": r"ticks of the tester's TSC",
}
VECTORS = ROOT / "engine/tests/vectors"
# The folder of each kind of message.
ROOMS = {"request": "requests", "reply": "replies", "event": "events"}
MESSAGES = [
    part["$ref"].rsplit("/", 1)[1]
    for kind in ("request", "reply", "event")
    for part in SCHEMA["$defs"][kind]["oneOf"]
]


def vectors(goodness: str, message: str) -> list[tuple[int, Any]]:
    """Number and content of each line of the message's good or bad vectors."""
    lines = vector_file(goodness, message).read_text().splitlines()
    return [(number, json.loads(line)) for number, line in enumerate(lines, 1)]


def vector_file(goodness: str, message: str) -> Path:
    return (
        VECTORS
        / ROOMS[message.rpartition("_")[2]]
        / f"{goodness}-{message.replace('_', '-')}.jsonl"
    )


# What a reference points to is looked up once for all vectors.
@functools.cache
def validator(message: str | None = None) -> Draft202012Validator:
    """Validates the named message, or any message of the protocol."""
    if message is None:
        return Draft202012Validator(SCHEMA)
    return Draft202012Validator({"$ref": f"#/$defs/{message}", "$defs": SCHEMA["$defs"]})


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_schemas_are_draft_2020_12(name: str) -> None:
    schema = schema_of(name)
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    Draft202012Validator.check_schema(schema)


def keywords(schema: Any) -> Iterator[str]:
    """The keywords of a schema and of all within it."""
    if isinstance(schema, list):
        for each in schema:
            yield from keywords(each)
    elif isinstance(schema, dict):
        for name, below in schema.items():
            yield name
            if name in ("properties", "$defs"):
                yield from keywords(list(below.values()))
            elif name not in ("const", "enum", "default"):
                yield from keywords(below)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_schemas_have_no_keyword_but_json_schemas(name: str) -> None:
    """Strict validators, such as ajv, refuse a schema with any other."""
    meta = "https://json-schema.org/draft/2020-12/meta/"
    known: set[str] = set()
    for vocabulary in ("core", "applicator", "validation", "meta-data", "format-annotation"):
        known |= REGISTRY.contents(meta + vocabulary)["properties"].keys()
    assert set(keywords(schema_of(name))) <= known


def properties(schema: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every property of a schema and of all it defines, by its place; no mere conditions."""
    if isinstance(schema, dict):
        for name, found in schema.get("properties", {}).items():
            yield f"{place}/{name}", found
        for name, below in schema.items():
            if name not in ("if", "then", "else"):
                yield from properties(below, f"{place}/{name}")
    elif isinstance(schema, list):
        for number, each in enumerate(schema):
            yield from properties(each, f"{place}/{number}")


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_property_says_what_it_is(name: str) -> None:
    found = dict(properties(schema_of(name)))
    silent = [place for place, each in found.items() if len(each.get("description", "")) < 8]
    assert len(found) > 20
    assert silent == [], "give each a Field(description=...) or a text below it"


@pytest.mark.parametrize("name", PUBLISHED)
def test_units_in_names_are_units_in_descriptions(name: str) -> None:
    for place, each in properties(schema_of(name)):
        words = next((words for end, words in UNITS.items() if place.endswith(end)), "")
        assert re.search(words, each["description"]), f"{place}: {each['description']}"


def test_each_message_has_good_and_bad_vectors_and_no_file_is_for_no_message() -> None:
    expected = {
        vector_file(goodness, message) for goodness in ("good", "bad") for message in MESSAGES
    }
    assert set(VECTORS.rglob("*.jsonl")) == expected


@pytest.mark.parametrize("message", MESSAGES)
def test_good_vectors_are_accepted(message: str) -> None:
    refused = {
        number: error.message
        for number, vector in vectors("good", message)
        for each in (validator(message), validator())
        for error in each.iter_errors(vector)
    }
    assert refused == {}


@pytest.mark.parametrize("message", MESSAGES)
def test_bad_vectors_are_refused(message: str) -> None:
    bad = vectors("bad", message)
    assert [number for number, vector in bad if set(vector) != {"why", "message"}] == []
    accepted = {
        number: vector["why"]
        for number, vector in bad
        for each in (validator(message), validator())
        if each.is_valid(vector["message"])
    }
    assert accepted == {}
