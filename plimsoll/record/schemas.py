"""The published JSON Schemas of the record, generated from its models.

`python -m plimsoll.record.schemas FOLDER` writes them, as `make docs` does into build/docs/schemas.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel

from plimsoll.host.entry.entry_point import enter
from plimsoll.record.causes.causes_record import TrialCauses
from plimsoll.record.methods.registry import METHODS
from plimsoll.record.results.check_result import CheckResult
from plimsoll.record.results.noise_result import NoiseResult
from plimsoll.record.run.audit_record import AuditRecord
from plimsoll.record.trials.window_record import WindowRecord

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
# No address: nothing is to be fetched by it, and no domain is the project's.
_BASE = "urn:plimsoll:schema"
# Documents that are not a run's result; that of a method is published under the name that its entry
# says.
_OTHERS: Mapping[str, type[BaseModel]] = {
    "window-record": WindowRecord,
    "audit": AuditRecord,
    "trial-causes": TrialCauses,
    "noise-result": NoiseResult,
    "check-result": CheckResult,
}


def published_schema(name: str) -> str:
    """The schema of the document that is published under `name`. Raises KeyError."""
    schema = published()[name].model_json_schema(mode="serialization")
    head = {"$schema": _DIALECT, "$id": f"{_BASE}:{name}:1"}
    return json.dumps(head | schema, indent=2, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> list[Path]:
    """Write every schema into `folder` and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in published():
        path = folder / f"{name}.schema.json"
        path.write_text(published_schema(name), encoding="utf-8")
        paths.append(path)
    return paths


def published() -> dict[str, type[BaseModel]]:
    """The model of each document, by the name that its schema is published under."""
    return {each.schema: each.result for each in METHODS.values()} | dict(_OTHERS)


def main(arguments: Sequence[str]) -> int:
    """Write the schemas into the folder that the one argument names."""
    if len(arguments) != 1:
        print("usage: python -m plimsoll.record.schemas FOLDER", file=sys.stderr)
        return 2
    for path in write_schemas(Path(arguments[0])):
        print(path)
    return 0


if __name__ == "__main__":
    enter(lambda: main(sys.argv[1:]))
