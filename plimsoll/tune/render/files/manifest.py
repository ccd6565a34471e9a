"""Kubernetes objects as YAML that every parser reads alike."""

from __future__ import annotations

from typing import Any, TypeAlias

import yaml

Manifest: TypeAlias = dict[str, Any]

# What YAML 1.1, which Kubernetes' own parser follows, may take for a truth or for nothing.
_NO_TEXT = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_WIDTH = 100


class _Dumper(yaml.SafeDumper):
    """Without anchors, lists set in from their key, and text that looks like no number."""

    def ignore_aliases(self, data: Any) -> bool:
        """No value is shared: a reader changes what they see, and nothing else."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Set lists in, as people write them."""
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Several lines as a block; quotes around what any parser could take for no text.

    PyYAML writes 15e3 and 0-3 bare, and Go's parsers read the first as a number.
    """
    style: str | None = None
    if "\n" in text:
        style = "|"
    elif not text[:1].isalpha() or text.lower() in _NO_TEXT:
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def manifest_text(manifest: Manifest) -> str:
    """The object in the order of its keys, which is apiVersion, kind, metadata, then the rest."""
    return yaml_text(manifest)


def yaml_text(document: Any) -> str:
    """Any document, in the order of its keys."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True)


def manifest_of(
    api_version: str, kind: str, name: str, *, namespace: str | None = None, **parts: Any
) -> Manifest:
    """An object; `parts` are its further fields, `labels` and `annotations` its metadata's."""
    metadata: dict[str, Any] = {"name": name}
    if namespace is not None:
        metadata["namespace"] = namespace
    for field in ("labels", "annotations"):
        if given := parts.pop(field, None):
            metadata[field] = given
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}
