"""What a report says of the cache and memory bandwidth that were allocated for a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.record.run.journal import LAB_UP, JournalContents


def allocation_words(journal: JournalContents) -> tuple[str, ...]:
    """A sentence for each resctrl group, of the run's last session; none without any."""
    sessions = [event.fields.get("resctrl") for event in journal.of_kind(LAB_UP)]
    last = sessions[-1] if sessions else None
    return tuple(_sentences(last)) if isinstance(last, Mapping) else ()


def _sentences(resctrl: Mapping[str, Any]) -> Iterator[str]:
    for group in resctrl["groups"]:
        members = [*(["noise"] * ("noise" in group["of"]))]
        members += [f"CPUs {group['cpus']}"] if group["cpus"] else []
        yield f"{group['name']} ({', '.join(members)}) had {_shares(group['schemata'])}."
    yield f"All others had {_shares(resctrl['default']['schemata'])}."


def _shares(schemata: Mapping[str, Mapping[str, str]]) -> str:
    """With masks and bandwidth as the kernel writes them, by cache."""
    return "; ".join(
        f"{resource} {', '.join(f'{cache}={value}' for cache, value in by_cache.items())}"
        for resource, by_cache in schemata.items()
    )
