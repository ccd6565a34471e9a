"""The JSON Schemas that `make docs` publishes: those of our models, and the engine protocol's."""

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plimsoll.record.schemas import published, published_schema
from plimsoll.tune.intent.load import intent_schema

ROOT = Path(__file__).resolve().parents[3]
_PROTOCOL = ROOT / "docs/schemas/engine-protocol.schema.json"
PUBLISHED = (*published(), "tuning-intent", "engine-protocol")


@functools.cache
def schema_of(name: str) -> Mapping[str, Any]:
    """Of the document that is published under `name`."""
    if name == "engine-protocol":
        text = _PROTOCOL.read_text()
    elif name == "tuning-intent":
        text = intent_schema()
    else:
        text = published_schema(name)
    found: Mapping[str, Any] = json.loads(text)
    return found
