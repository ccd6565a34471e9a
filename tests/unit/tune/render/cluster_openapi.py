"""The OpenAPI of an OpenShift cluster's kinds, as its API server judges objects by it."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

# Where `make cluster-openapi` puts it.
FOLDER = Path(__file__).resolve().parents[4] / "build/cluster-openapi"


def is_there() -> bool:
    """Whether it has been fetched."""
    return (FOLDER / "kinds.json.gz").exists()


def mistakes_in(manifest: dict[str, Any]) -> list[str]:
    """What the server would refuse under strict field validation, each with its place.

    Raises ValueError for a kind that the cluster does not have in that version.
    """
    found = _validator(manifest["apiVersion"], manifest["kind"]).iter_errors(manifest)
    return [f"{each.json_path}: {each.message}" for each in found]


@cache
def _validator(api_version: str, kind: str) -> jsonschema.Draft7Validator:
    group, _, version = api_version.rpartition("/")
    expected = {"group": group, "version": version, "kind": kind}
    kinds, components = _schemas()
    for schema in kinds.get(kind.lower(), []):
        if expected in schema["x-kubernetes-group-version-kind"]:
            return jsonschema.Draft7Validator(_strict(schema) | components)
    raise ValueError(f"the cluster has no {kind} of {api_version}")


@cache
def _schemas() -> tuple[dict[str, Any], dict[str, Any]]:
    with gzip.open(FOLDER / "kinds.json.gz") as file:
        kinds = json.load(file)
    definitions = json.loads((FOLDER / "definitions.json").read_text())["definitions"]
    return kinds, {"components": {"schemas": _strict(definitions)}}


def _strict(schema: Any) -> Any:
    """A server drops unknown fields, or under strict validation refuses them, as this does."""
    if isinstance(schema, list):
        return [_strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _strict(value) for name, value in schema.items()}
    takes_any = found.get("x-kubernetes-preserve-unknown-fields") is True
    if found.get("type") == "object" and "properties" in found and not takes_any:
        found.setdefault("additionalProperties", False)
    return found
