"""The engine protocol's schema is sound, and its vectors are what their names say."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/schemas/engine-protocol.schema.json").read_text())
VECTORS = ROOT / "engine/tests/vectors"
MESSAGES = [
    part["$ref"].rsplit("/", 1)[1]
    for kind in ("request", "reply", "event")
    for part in SCHEMA["$defs"][kind]["oneOf"]
]


def vectors(goodness: str) -> list[Any]:
    """(message, line) of each line of the good or bad vectors."""
    return [
        pytest.param(message, json.loads(line), id=f"{message}-{number}")
        for message in MESSAGES
        for number, line in enumerate(vector_file(goodness, message).read_text().splitlines(), 1)
    ]


def vector_file(goodness: str, message: str) -> Path:
    return VECTORS / f"{goodness}-{message.replace('_', '-')}.jsonl"


def validator(message: str | None = None) -> Draft202012Validator:
    """Validates the named message, or any message of the protocol."""
    if message is None:
        return Draft202012Validator(SCHEMA)
    return Draft202012Validator({"$ref": f"#/$defs/{message}", "$defs": SCHEMA["$defs"]})


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/schemas/*.json")), ids=lambda p: p.name)
def test_published_schemas_are_draft_2020_12(path: Path) -> None:
    schema = json.loads(path.read_text())
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    Draft202012Validator.check_schema(schema)


def test_each_message_has_good_and_bad_vectors_and_no_file_is_for_no_message() -> None:
    expected = {
        vector_file(goodness, message) for goodness in ("good", "bad") for message in MESSAGES
    }
    assert set(VECTORS.glob("*.jsonl")) == expected


@pytest.mark.parametrize(("message", "vector"), vectors("good"))
def test_good_vectors_are_accepted(message: str, vector: Any) -> None:
    validator(message).validate(vector)
    validator().validate(vector)


@pytest.mark.parametrize(("message", "vector"), vectors("bad"))
def test_bad_vectors_are_refused(message: str, vector: Any) -> None:
    assert set(vector) == {"why", "message"}
    assert not validator(message).is_valid(vector["message"]), vector["why"]
    assert not validator().is_valid(vector["message"]), vector["why"]
