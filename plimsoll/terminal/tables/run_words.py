"""A run of the index in words: for tables and lines, and as plain JSON."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from rich.text import Text

from plimsoll.record.index.run_entry import RunEntry, RunState
from plimsoll.record.run.file_check import FileDamage
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.text.plain_text import plain_text

# Of answers that are none.
_VERDICT_STYLES: dict[Verdict, str] = {"fail": "red", "invalid": "yellow"}
_NS_PER_S = 10**9
_NS_PER_US = 1000
STATE_STYLES: dict[RunState, str] = {
    "running": "cyan",
    "finished": "green",
    "stopped": "yellow",
    "damaged": "red",
}


def shown(text: str, style: str = "", most: int | None = None) -> Text:
    """Text from a run, which may be anybody's: neither markup nor able to drive a terminal."""
    return Text(plain_text(text, most), style)


def damage_text(damage: FileDamage) -> Text:
    """One line: which file, and what is wrong with it."""
    where = shown(f"{damage.path}: ")
    return Text.assemble(("damaged: ", "bold red")) + where + shown(damage.reason)


def answer_text(entry: RunEntry) -> Text:
    """What the run found; a dash where it has found nothing yet."""
    summary = entry.summary
    if summary is None or summary.answer is None:
        return Text("-", "dim")
    return shown(summary.answer.text, _VERDICT_STYLES.get(summary.verdict, ""))


def dut_text(entry: RunEntry) -> Text:
    """The kind of lab, and which DUT is simulated in it."""
    summary = entry.summary
    named = [part for part in (summary.dut, summary.model) if part] if summary else []
    return shown("/".join(named)) if named else Text("-", "dim")


def state_text(entry: RunEntry) -> Text:
    """In its colour."""
    return Text(entry.state, STATE_STYLES[entry.state])


def tags_text(entry: RunEntry, most: int | None = None) -> Text:
    """All tags, one after the other, cut to `most` characters."""
    return shown(" ".join(f"{key}={value}" for key, value in entry.notes.tags.items()), most=most)


def moment(unix_ns: int | None) -> str | None:
    """As ISO 8601 has it, in UTC, to the second."""
    if unix_ns is None:
        return None
    return f"{datetime.fromtimestamp(unix_ns // _NS_PER_S, UTC):%Y-%m-%dT%H:%M:%SZ}"


def entry_json(entry: RunEntry) -> dict[str, Any]:
    """All that is known of the run, as docs/runs.md describes it."""
    summary = entry.summary
    facts = (
        {
            "method": None,
            "name": None,
            "dut": None,
            "model": None,
            "began": moment(entry.began_unix_ns),
            "ended": None,
            "answer": None,
            "verdict": "none",
            "period": None,
            "trials": None,
            "versions": {},
        }
        if summary is None
        else {
            "method": summary.method,
            "name": summary.name,
            "dut": summary.dut,
            "model": summary.model,
            "began": moment(summary.began_unix_ns),
            "ended": moment(summary.ended_unix_ns),
            "answer": summary.answer and asdict(summary.answer),
            "verdict": summary.verdict,
            "period": summary.period,
            "trials": summary.trials,
            "versions": dict(summary.versions),
        }
    )
    return {
        "id": entry.run_id,
        "path": str(entry.run.path),
        "state": entry.state,
        **facts,
        "tags": dict(entry.notes.tags),
        "notes": [{"at": moment(note.at_unix_ns), "text": note.text} for note in entry.notes.notes],
        "damage": [asdict(each) for each in entry.damage],
    }
