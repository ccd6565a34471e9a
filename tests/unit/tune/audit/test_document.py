"""docs/tuning.md is what the checks say."""

from pathlib import Path

from plimsoll.tune.audit.audit import all_checks
from plimsoll.tune.audit.document import tuning_document

ROOT = Path(__file__).resolve().parents[4]


def test_the_readme_says_how_many_checks_there_are() -> None:
    assert f"[{len(all_checks())} checks](docs/tuning-audit.md)" in (ROOT / "README.md").read_text()


def test_each_check_has_a_section_that_the_overview_leads_to() -> None:
    text = tuning_document()
    for check in all_checks():
        assert f"\n### {check.number} {check.name}\n" in text
        assert f"(#{check.number}-{check.name})" in text
        assert check.why in text
        assert check.fix in text
