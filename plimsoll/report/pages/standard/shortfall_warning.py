"""The sentences that every page of a shorter run begins with."""

from __future__ import annotations

from pydantic import ValidationError

from plimsoll.record.results.method_result import SHORTFALLS, Shortfall, shortfall_sentence
from plimsoll.record.run.journal import JournalContents


def shortfall_warnings(journal: JournalContents, standard: str) -> tuple[str, ...]:
    """In which points the run falls short of its standard; none where in none."""
    said = [event.fields.get("shortfalls") for event in journal.of_kind(SHORTFALLS)]
    entries = said[-1] if said and isinstance(said[-1], list) else []
    try:
        shortfalls = [Shortfall.model_validate(entry) for entry in entries]
    except ValidationError:
        return ("What this run leaves out of its standard was written by another version.",)
    sentence = shortfall_sentence(shortfalls, standard)
    return () if sentence is None else (sentence,)
