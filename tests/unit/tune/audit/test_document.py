"""docs/tuning.md is what the checks say."""

from pathlib import Path

from plimsoll.tune.audit.document import tuning_document
from plimsoll.tune.audit.registry import all_checks

DOCUMENT = Path(__file__).resolve().parents[4] / "docs/tuning.md"


def test_the_committed_document_is_current() -> None:
    assert DOCUMENT.read_text() == tuning_document(), (
        "run: python -m plimsoll.tune.audit.document > docs/tuning.md"
    )


def test_each_check_has_a_section_that_the_overview_leads_to() -> None:
    text = tuning_document()
    for check in all_checks():
        assert f"\n### {check.number} {check.name}\n" in text
        assert f"(#{check.number}-{check.name})" in text
        assert check.why in text
        assert check.fix in text
