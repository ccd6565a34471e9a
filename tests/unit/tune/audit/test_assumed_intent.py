"""What is assumed where no intent is declared."""

import pytest

from plimsoll.tune.audit.without_intent import assume_intent
from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.view.unread import Unread
from tests.unit.tune.audit.machines import CMDLINE, GUEST, booted
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("arguments", "isolated", "balanced", "tickless"),
    [
        ("isolcpus=2-7", "2-7", False, None),
        ("isolcpus=managed_irq,domain,2-7", "2-7", False, None),
        ("isolcpus=managed_irq,2-7 nohz_full=2-7", "2-7", True, True),
        ("nohz_full=4-7", "4-7", True, True),
        ("isolcpus=2-3 nohz_full=4-7", "2-7", False, True),
        # Of several the first counts for its flags; further flags are added.
        ("isolcpus=4-7 isolcpus=2-3 nohz_full=4-7 nohz_full=2-7", "4-7", False, True),
        ("isolcpus=managed_irq,2-5 isolcpus=4-7", "2-7", False, None),
        # CPUs that are not there are no part of it.
        ("isolcpus=2-40", "2-7", False, None),
    ],
)
def test_isolated_are_those_of_the_command_line(
    arguments: str, isolated: str, balanced: bool, tickless: bool | None
) -> None:
    intent, source = assume_intent(CapturedHost(files=booted(arguments)))
    assert intent is not None
    assert intent.cpus.isolated.canonical == isolated
    assert intent.cpus.balance_isolated is balanced
    assert intent.hints.realtime is tickless
    assert intent.platform == "bare-metal"
    assert f"CPUs {isolated} isolated" in source


def test_a_guest_is_one() -> None:
    intent, _ = assume_intent(CapturedHost(files=booted("isolcpus=2-7", GUEST)))
    assert intent is not None
    assert intent.platform == "vm"


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ("quiet", ()),
        ("isolcpus=9", ()),
        ("isolcpus=0-7", ()),
        ("nohz_full=x", ("x",)),
    ],
)
def test_without_isolated_cpus_there_is_none_and_it_says_why(
    arguments: str, facts: tuple[str, ...], says: Says
) -> None:
    intent, source = assume_intent(CapturedHost(files=booted(arguments)))
    assert intent is None
    assert source == says(*facts)


def test_an_unread_command_line_is_the_reason(says: Says) -> None:
    view = CapturedHost(files={}, unread=[Unread(CMDLINE, "forbidden")])
    intent, source = assume_intent(view)
    assert intent is None
    assert source == says(str(CMDLINE))
