"""A file made from an intent, with what its reader has to know of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import yaml

from plimsoll.text.bounded_yaml import QUICK_LOADER
from plimsoll.text.mistakes import did_you_mean
from plimsoll.tune.intent.fields.section import merged
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.files.refusal import Mistake

_SHEBANG = "#!"


@dataclass(frozen=True, slots=True)
class RenderedFile:
    """`path` is relative, with forward slashes.

    `does` and `undo` are sentences for the README, `notes` comment lines at the file's head.
    Files of which `commented` is false have no comments in their format.
    """

    path: str
    text: str
    does: str
    undo: str
    notes: tuple[str, ...] = ()
    mode: int = 0o644
    commented: bool = True

    @property
    def folder(self) -> str:
        """The first folder of the path; empty where there is none."""
        return self.path.partition("/")[0] if "/" in self.path else ""

    def with_header(self, header: str) -> RenderedFile:
        """With a comment that starts with `header`, before all but a script's first line."""
        if not self.commented:
            return self
        comment = "".join(f"# {line}\n" for line in (header, *self.notes))
        first, end, rest = self.text.partition("\n")
        if first.startswith(_SHEBANG):
            return replace(self, text=first + end + comment + rest)
        return replace(self, text=comment + self.text)


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


_MAX_NAMED = 8


def with_extra(intent: Intent, manifest: Manifest) -> Manifest:
    """The object as the intent's annotations and extra fields make it."""
    found: Any = manifest
    for patch in intent.patches_of(*_identity(manifest)):
        found = merged(found, patch)
    return dict(found)


def extended(intent: Intent, file: RenderedFile) -> RenderedFile:
    """The file, and in what it does the fields that are the intent's own."""
    manifest = _manifest(file)
    if manifest is None or not list(intent.patches_of(*_identity(manifest))):
        return file
    added = [
        path for each in intent.extra if each.is_for(*_identity(manifest)) for path in each.paths
    ]
    does = f"{file.does} With the intent's `extra`: {_named(added)}." if added else file.does
    return replace(file, text=manifest_text(with_extra(intent, manifest)), does=does)


def check_extra(intent: Intent, files: Sequence[RenderedFile]) -> Iterator[Mistake]:
    """What is for an object that is not rendered; a patch that applies to nothing is a mistake."""
    manifests = [each for each in map(_manifest, files) if each is not None]
    there = [_identity(each) for each in manifests]
    for kind in intent.annotations:
        if kind not in [each for each, _ in there]:
            yield Mistake(f"annotations.{kind}", f"no {kind} is rendered", "leave it out")
    for place, extra in enumerate(intent.extra):
        names = [name for kind, name in there if kind == extra.kind]
        if not names:
            yield Mistake(f"extra[{place}].kind", f"no {extra.kind} is rendered", "leave it out")
        elif extra.name is not None and extra.name not in names:
            remedy = did_you_mean(extra.name, names)
            yield Mistake(f"extra[{place}].name", f"no {extra.kind} is {extra.name}", remedy)


def _manifest(file: RenderedFile) -> Manifest | None:
    """The object in a file of our own making; None where there is none."""
    if not file.path.endswith(".yaml"):
        return None
    found = yaml.load(file.text, Loader=QUICK_LOADER)  # noqa: S506 the loader is a safe one
    return found if isinstance(found, dict) and "kind" in found else None


def _identity(manifest: Manifest) -> tuple[str, str]:
    return manifest["kind"], manifest["metadata"]["name"]


def _named(paths: Sequence[str]) -> str:
    shown = ", ".join(f"`{each}`" for each in paths[:_MAX_NAMED])
    return f"{shown} and {len(paths) - _MAX_NAMED} more" if len(paths) > _MAX_NAMED else shown
