"""Kinds of a distribution that is not installed, for the length of a test."""

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from plimsoll import plug_ins


class Installed(EntryPoint):
    """An entry point that loads what a test has."""

    models: Mapping[str, Any] = {}

    def load(self) -> Any:
        return self.models[self.name]


def registered(monkeypatch: pytest.MonkeyPatch, group: str, models: Mapping[str, Any]) -> None:
    """By kind, as another distribution names them."""
    real = plug_ins.foreign
    made = type("InstalledHere", (Installed,), {"models": models})
    here = {name: made(name, f"{__name__}:{name}", group) for name in models}
    monkeypatch.setattr(
        plug_ins, "foreign", lambda asked: {**real(asked), **(here if asked == group else {})}
    )
