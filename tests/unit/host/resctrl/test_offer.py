"""What `plimsoll lab list` says of resctrl."""

from pathlib import Path

import pytest

from plimsoll.errors import MachineError
from plimsoll.host.resctrl.filesystem import LEAVE_OUT, Resctrl, resctrl_offer
from tests.unit.host.resctrl.documented import DocumentedResctrl, xeon, xeon_with_cdp
from tests.worded.says import Says


def said(resctrl: Resctrl) -> str:
    return resctrl_offer(lambda: resctrl).in_words()


def test_what_can_be_allocated_and_to_how_many(tmp_path: Path, says: Says) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    resctrl.make("vm1")
    assert said(resctrl) == says("L3", "11", "6")


def test_code_and_data_apart(tmp_path: Path) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon_with_cdp())
    assert said(resctrl) == "usable: L3CODE (11 ways), L3DATA (11 ways), MB; 6 groups free"


def test_without_a_class_of_service_nothing_is_usable(tmp_path: Path, says: Says) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    for number in range(7):
        resctrl.make(f"vm{number}")
    assert said(resctrl) == says("8")


def test_what_monitors_alone_allocates_nothing(tmp_path: Path, says: Says) -> None:
    machine = xeon()
    machine.info = {name: text for name, text in machine.info.items() if "L3_MON" in name}
    found = said(DocumentedResctrl(tmp_path, machine))
    assert found == says(str(tmp_path))


def test_one_who_may_not_write_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    resctrl = DocumentedResctrl(tmp_path, xeon())
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert said(resctrl) == says(str(tmp_path))


def test_a_machine_without_it_gets_the_reason_and_no_advice_about_experiments(says: Says) -> None:
    def find() -> Resctrl:
        raise MachineError(
            "resctrl is not mounted", where="resctrl", remedy=f"as root: mount it, {LEAVE_OUT}"
        )

    found = resctrl_offer(find)
    assert found.in_words() == says("resctrl")
