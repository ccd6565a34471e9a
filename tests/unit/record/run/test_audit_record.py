"""The audits of a run as documents: those of now, those of before, and damaged ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from plimsoll.record.files.record_error import RecordError
from plimsoll.record.run.audit_record import AuditRecord, load_audit, read_audits
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.benchmark.audits import audit_of, finding
from tests.unit.record.published import schema_of
from tests.worded.says import Says

# As runs kept it in version 1.
EARLIER: dict[str, Any] = {
    "format": "plimsoll-audit",
    "version": 1,
    "plimsoll": "0.0.9",
    "role": "tester",
    "source": "this host",
    "under_test": "",
    "unread": "",
    "host": "bench-07",
    "kernel": "6.12.0",
    "intent": "vm",
    "assumed": "",
    "took_s": 0.2,
    "findings": [
        {
            "number": 27,
            "name": "swap",
            "group": "kernel",
            "title": "Swap is off",
            "verdict": "ok",
            "text": "no swap is on",
            "wanted": "",
            "read": [{"where": "/proc/swaps", "what": ""}],
            "steps": [],
            "why": "",
            "fix": "",
            "sources": [],
        }
    ],
}


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "audited", {})


def test_audits_come_in_the_experiments_order_the_testers_first(run: RunDirectory) -> None:
    assert read_audits(run) == ()
    for place in (10, 2, 1):
        audit_of(f"dut-{place}").write(run.observed_audits / f"{place}.json")
    audit_of("tester").write(run.audit)
    for name in ("notes.txt", "01.json", ".3.json.77", "x.json"):
        (run.observed_audits / name).write_text("of another's")
    hosts = [audit.host for audit in read_audits(run)]
    assert hosts == ["tester", "dut-1", "dut-2", "dut-10"]


def test_an_audit_of_an_earlier_version_is_refused_with_who_reads_it(
    run: RunDirectory, says: Says
) -> None:
    run.audit.write_text(json.dumps(EARLIER))
    with pytest.raises(RecordError) as caught:
        read_audits(run)
    assert caught.value == says()


def test_what_is_written_keeps_to_the_published_schema_and_is_read_again(tmp_path: Path) -> None:
    audit = audit_of("bench", finding(3, "fail"), finding(7, "ok"), finding(9, "ok"))
    audit.write(tmp_path / "audit.json")
    written = json.loads((tmp_path / "audit.json").read_text())
    validator = Draft202012Validator(schema_of("audit"))
    validator.validate(written)
    assert (written["format"], written["version"]) == ("plimsoll-audit", 2)
    assert written["counts"] == {
        "fail": 1,
        "warn": 0,
        "unknown": 0,
        "ok": 2,
        "not-applicable": 0,
    }
    assert load_audit(tmp_path / "audit.json") == audit
    assert not validator.is_valid({**written, "role": "dut"})
    del written["version"]
    assert not validator.is_valid(written)


def test_one_that_was_not_audited_keeps_to_it_too(says: Says) -> None:
    unread = AuditRecord.not_audited("observed", "ssh://dut", None, "no route to host")
    written = json.loads(unread.text)
    Draft202012Validator(schema_of("audit")).validate(written)
    assert written["findings"] == []
    assert written["unread"] == says()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 3}, "version"),
        ({"format": "plimsoll-capture"}, "format"),
        ({"host": 1}, "host"),
        ({"under_test": "2-"}, "under_test"),
        ({"role": "dut"}, "role"),
    ],
)
def test_a_damaged_one_is_reported_with_its_place(
    run: RunDirectory, changes: dict[str, Any], message: str, says: Says
) -> None:
    assert load_audit(run.audit) is None
    run.audit.write_text(json.dumps({**json.loads(audit_of("bench-07").text), **changes}))
    with pytest.raises(RecordError, match=message) as caught:
        read_audits(run)
    assert caught.value.where == str(run.audit)
    assert caught.value == says("version")
