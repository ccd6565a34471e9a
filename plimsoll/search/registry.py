"""Every strategy there is. A new one is a SearchModel, and a member of the union here."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Tag

from plimsoll.search.binary_settings import BinarySettings


def _strategy(given: Any) -> Any:
    """What tells the strategies apart; an experiment that names none asks for a bisection."""
    if isinstance(given, dict):
        return given.get("strategy", "binary")
    return getattr(given, "strategy", None)


# An experiment's `search`.
SearchSettings = Annotated[
    Annotated[BinarySettings, Tag("binary")],
    Discriminator(_strategy),
]
