"""The intent's annotations and extra fields, merged into each object when all else is in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import yaml

from plimsoll.text.bounded_yaml import QUICK_LOADER
from plimsoll.text.mistakes import did_you_mean
from plimsoll.tune.intent.fields.extra import merged
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.files.manifest import Manifest, manifest_text
from plimsoll.tune.render.files.refusal import Mistake
from plimsoll.tune.render.files.rendered_file import RenderedFile

_MOST_NAMED = 8


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
    shown = ", ".join(f"`{each}`" for each in paths[:_MOST_NAMED])
    return f"{shown} and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else shown
