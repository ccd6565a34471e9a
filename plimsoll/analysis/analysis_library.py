"""The libraries for tables, imported when a table is first converted to their form."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

from plimsoll.errors import InputError
from plimsoll.extras import added_by

AnalysisLibrary = Literal["pyarrow", "pandas", "polars"]


def analysis_library(name: AnalysisLibrary) -> Any:
    """The library, which is not a dependency of Plimsoll (docs/decisions/010).

    Raises InputError naming the extra to install.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(
            f"{name} cannot be imported ({error})",
            where="plimsoll's tables",
            remedy=f"{added_by('analysis')}, or take the rows as plain Python: .rows()",
        ) from error
