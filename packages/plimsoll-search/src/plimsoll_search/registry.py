"""Every strategy there is. A new one is a SearchModel, and a member of the union here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Field, TypeAdapter

from .binary.settings import BinarySettings
from .checkpoints.settings import CheckpointSettings
from .load_line.settings import LoadLineSettings
from .mlrsearch.settings import MlrSettings
from .strategy.settings import SearchModel
from .text.errors import mistake

# An experiment's `search`.
SearchSettings = Annotated[
    BinarySettings | MlrSettings | CheckpointSettings | LoadLineSettings,
    Field(discriminator="strategy"),
]


# What is used where an experiment names no strategy.
DEFAULT_STRATEGY = "load-line"


def settings_of(search: Mapping[str, Any]) -> SearchModel:
    """A strategy's settings from what is written, checked; `load-line` where none is named.

    Raises pydantic's ValidationError, which names each field that is wrong.
    """
    written = Annotated[SearchSettings, BeforeValidator(with_strategy)]
    adapter: TypeAdapter[SearchModel] = TypeAdapter(written)
    return adapter.validate_python(search)


def with_strategy(search: Mapping[str, Any]) -> dict[str, Any]:
    """An experiment's `search` as written, with the default strategy where it names none.

    Raises a mistake for a field that only another strategy has, such as `granularity`.
    """
    if "strategy" not in search:
        known = _fields_by_strategy()
        for field in search.keys() - known[DEFAULT_STRATEGY]:
            if owners := [name for name, fields in known.items() if field in fields]:
                raise mistake(
                    f"the strategy {DEFAULT_STRATEGY}, which is used by default, has no {field}",
                    f"remove it, or write strategy: {' or '.join(owners)}",
                    str(field),
                )
    return {"strategy": DEFAULT_STRATEGY, **search}


def _fields_by_strategy() -> dict[str, frozenset[str]]:
    models = zip(strategies(), strategy_models(), strict=True)
    return {name: frozenset(model.model_fields) for name, model in models}


def strategy_models() -> tuple[type[SearchModel], ...]:
    """The settings of every strategy."""
    union, _ = get_args(SearchSettings)
    return get_args(union)


def strategies() -> tuple[str, ...]:
    """What an experiment's `search.strategy` may be."""
    return tuple(
        get_args(model.model_fields["strategy"].annotation)[0] for model in strategy_models()
    )


def verdict_strategies() -> tuple[str, ...]:
    """Those that go by the verdicts of trials alone."""
    models = zip(strategies(), strategy_models(), strict=True)
    return tuple(name for name, model in models if model.by_verdicts_alone)
