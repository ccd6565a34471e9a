"""The JSON Schema of the intent, for editors and other tools (docs/schemas).

Run `python -m plimsoll.tune.intent.schema > docs/schemas/tuning-intent.schema.json` after
a change of the model.
"""

from __future__ import annotations

import json
from typing import Any

from plimsoll.host.entry.entry_point import enter
from plimsoll.tune.intent.intent import Intent

SCHEMA_ID = "urn:plimsoll:schema:tuning-intent:1"
# The schema's file name next to an intent, which names it in its first line.
SCHEMA_FILE = "tuning-intent.schema.json"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def intent_schema() -> str:
    """What an intent may be, as it is written: the published file's content."""
    schema = _without_discriminators(Intent.model_json_schema(mode="validation"))
    head = {"$schema": _DIALECT, "$id": SCHEMA_ID}
    return json.dumps(head | schema, indent=2, ensure_ascii=False) + "\n"


def _without_discriminators(schema: Any) -> Any:
    """The same without OpenAPI's keyword, which means nothing to JSON Schema next to `oneOf`.

    Strict validators, ajv among them, refuse keywords that they do not know.
    """
    if isinstance(schema, dict):
        return {
            name: _without_discriminators(each)
            for name, each in schema.items()
            if name != "discriminator"
        }
    if isinstance(schema, list):
        return [_without_discriminators(each) for each in schema]
    return schema


if __name__ == "__main__":
    enter(lambda: print(intent_schema(), end=""))
