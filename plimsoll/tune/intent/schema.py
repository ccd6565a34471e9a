"""The JSON Schema of the intent, for editors and other tools (docs/schemas).

Run `python -m plimsoll.tune.intent.schema > docs/schemas/tuning-intent.schema.json` after
a change of the model.
"""

from __future__ import annotations

import json

from plimsoll.tune.intent.intent import Intent

SCHEMA_ID = "https://plimsoll.dev/schemas/tuning-intent/1"
# What the schema is called beside an intent, which names it in its first line.
SCHEMA_FILE = "tuning-intent.schema.json"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def intent_schema() -> str:
    """What an intent may be, as it is written: the published file's content."""
    schema = Intent.model_json_schema(mode="validation")
    head = {"$schema": _DIALECT, "$id": SCHEMA_ID}
    return json.dumps(head | schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(intent_schema(), end="")
