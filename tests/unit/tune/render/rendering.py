"""What is rendered of an intent, read back as any YAML parser reads it."""

from __future__ import annotations

from typing import Any

import yaml

from plimsoll.text.bounded_yaml import QUICK_LOADER
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.load import load_preset
from plimsoll.tune.render.files.rendered_file import RenderedFile
from plimsoll.tune.render.render import render


def rendered(intent: Intent | str) -> dict[str, RenderedFile]:
    """By path; of the preset of that name."""
    found = load_preset(intent) if isinstance(intent, str) else intent
    return {file.path: file for file in render(found, origin="test.yaml")}


def documents(intent: Intent | str) -> dict[str, Any]:
    """The YAML documents among them, by path."""
    return {
        path: yaml.load(file.text, Loader=QUICK_LOADER)  # noqa: S506 the loader is a safe one
        for path, file in rendered(intent).items()
        if path.endswith(".yaml")
    }


def tuned_sections(text: str) -> dict[str, dict[str, str]]:
    """A TuneD profile by section; comments and indentation do not count."""
    sections: dict[str, dict[str, str]] = {}
    for line in (each.strip() for each in text.splitlines()):
        if line.startswith("["):
            sections[line.strip("[]")] = {}
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            sections[list(sections)[-1]][name] = value
    return sections
