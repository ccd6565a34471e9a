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
# Each as long as it has to be for the next longer unit to be one whole.
_AGES = ((86_400, "d"), (3600, "h"), (60, "min"))


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


def age(unix_ns: int | None, now: datetime) -> str:
    """How long ago: "5 min ago", "3 h ago", "12 d ago"; a dash where that is not known."""
    if unix_ns is None:
        return "-"
    seconds = now.timestamp() - unix_ns / _NS_PER_S
    for unit_s, unit in _AGES:
        if seconds >= unit_s:
            return f"{seconds // unit_s:.0f} {unit} ago"
    return "just now"


def moment(unix_ns: int | None) -> str | None:
    """As ISO 8601 has it, in UTC, to the second."""
    if unix_ns is None:
        return None
    return f"{datetime.fromtimestamp(unix_ns // _NS_PER_S, UTC):%Y-%m-%dT%H:%M:%SZ}"


def size_text(size: int) -> str:
    """Bytes for people, in powers of 1000: "12.3 MB"."""
    for factor, prefix in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if size >= factor:
            return f"{size / factor:.3g} {prefix}B"
    return f"{size} B"


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
