"""What texts in objects mean, where several texts mean the same.

Each function raises ValueError for a text without that meaning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from plimsoll.errors import InputError
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.tune.kubernetes.kube_object import parse_objects

_LONGEST_TEXT = 1 << 20


def cpu_set(given: Any) -> frozenset[int]:
    """The CPUs of a list: 0,1 and 0-1 are the same."""
    text = str(given) if isinstance(given, int) else given
    try:
        return frozenset(parse_cpu_list(_text(text)))
    except InputError as error:
        raise ValueError(error.message) from None


def json_fields(given: Any) -> dict[str, Any]:
    """The fields of JSON, as the configuration of a CNI plugin is."""
    text = _text(given)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None
    if not isinstance(found, dict):
        raise ValueError("has no fields")
    return found


def yaml_fields(given: Any) -> dict[str, Any]:
    """The fields of YAML."""
    text = _text(given)
    return dict(parse_objects(text.encode())[0]) if text.strip() else {}


def tuned_sections(given: Any) -> dict[str, dict[str, str]]:
    """The sections of a TuneD profile, and the options of each; its summary means nothing."""
    found: dict[str, dict[str, str]] = {}
    options: dict[str, str] = {}
    for line in _text(given).splitlines():
        text = line.strip()
        if not text or text.startswith(("#", ";")):
            continue
        if text.startswith("[") and text.endswith("]"):
            options = found.setdefault(text[1:-1], {})
        else:
            name, _, value = text.partition("=")
            options[name.strip()] = value.strip()
    found.get("main", {}).pop("summary", None)
    return found


def tuned_includes(sections: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    """The profiles that one includes, in their order."""
    return tuple(sections.get("main", {}).get("include", "").replace(",", " ").split())


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise ValueError("is not text")
    if len(given) > _LONGEST_TEXT:
        raise ValueError("is too long")
    return given
