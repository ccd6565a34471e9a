"""Check 1. Forms of isolcpus: Linux, kernel-parameters.txt; TuneD renders managed_irq first."""

import pytest

from plimsoll.tune.audit.checks.isolcpus import CHECK
from tests.unit.tune.audit.hosts import commands, host
from tests.unit.tune.audit.intents import intent
from tests.unit.tune.audit.machines import CMDLINE, CPUINFO, booted
from tests.worded.says import Says

UNBALANCED = intent(cpus={"reserved": "0-1", "isolated": "2-7", "balance_isolated": "off"})
OPENSHIFT = intent(platform="openshift", pool={"role": "worker"})


@pytest.mark.parametrize(
    ("declared", "argument"),
    [
        (UNBALANCED, "isolcpus=domain,managed_irq,2-7"),
        (UNBALANCED, "isolcpus=managed_irq,domain,2,3,4-7"),
        (UNBALANCED, "isolcpus=nohz,domain,managed_irq,2-N"),
        (intent(), "isolcpus=managed_irq,2-7"),
        (OPENSHIFT, "isolcpus=managed_irq,2-7 isolcpus=managed_irq,2-N"),
        (UNBALANCED, "isolcpus=2-7 isolcpus=managed_irq,2-7"),
        # The kernel ignores the second, which has other CPUs for a flag that is set.
        (UNBALANCED, "isolcpus=domain,managed_irq,2-7 isolcpus=0"),
        (UNBALANCED, "isolcpus=2-x isolcpus=domain,managed_irq,2-7"),
        (UNBALANCED, "isolcpus=domain,managed_irq,2-7,"),
        (UNBALANCED, '"isolcpus=domain,managed_irq,2-4 5-7"'),
        # nohz_full sets the flag nohz, and what comes later gives way.
        (UNBALANCED, "nohz_full=2-7 isolcpus=nohz,domain,managed_irq,2-7"),
        (UNBALANCED, "isolcpus=nohz,domain,managed_irq,2-7 nohz_full=2-5"),
        (UNBALANCED, "nohz_full=2-x isolcpus=nohz,domain,managed_irq,2-7"),
    ],
)
def test_the_isolated_cpus_with_their_flags_are_ok(declared, argument) -> None:  # type: ignore[no-untyped-def]
    finding = CHECK.judge(host(CHECK, booted(argument)), declared)
    assert (finding.verdict, finding.text.split(";")[0]) == ("ok", "isolates CPUs 2-7")


def test_none_at_all_fails_with_the_argument_to_add() -> None:
    finding = CHECK.judge(host(CHECK, booted("quiet")), UNBALANCED)
    assert finding.verdict == "fail"
    assert [each.what for each in finding.read] == ["no isolcpus"]
    assert commands(finding) == [
        "grubby --update-kernel=ALL --args=isolcpus=domain,managed_irq,2-7"
    ]


def test_none_is_a_warning_where_only_managed_interrupts_depend_on_it() -> None:
    assert CHECK.judge(host(CHECK, booted("quiet")), intent()).verdict == "warn"


def test_on_openshift_the_profile_renders_it() -> None:
    finding = CHECK.judge(host(CHECK, booted("quiet")), OPENSHIFT)
    assert finding.verdict == "fail"
    assert commands(finding) == []
    assert "PerformanceProfile" in finding.steps[0].text


@pytest.mark.parametrize(
    ("argument", "verdict", "facts"),
    [
        ("isolcpus=domain,managed_irq,2-6", "fail", ("7",)),
        ("isolcpus=domain,managed_irq,1-7", "fail", ("1",)),
        ("isolcpus=managed_irq,2-7", "fail", ()),
        # Without flags the kernel takes domain alone.
        ("isolcpus=2-7", "warn", ("managed_irq",)),
        ("isolcpus=domain,managed_irq,2-x", "fail", ("2-x",)),
        # The first counts.
        (
            "isolcpus=domain,managed_irq,2-3 isolcpus=domain,managed_irq,2-7",
            "fail",
            ("4-7", "isolcpus=domain,managed_irq,2-7"),
        ),
        ("isolcpus=2-7 isolcpus=managed_irq,2-3", "fail", ("4-7",)),
        ("isolcpus=0 isolcpus=managed_irq,2-7", "fail", ("2-7",)),
        ("isolcpus=2-x isolcpus=2-y", "fail", ()),
        (
            "nohz_full=2-5 isolcpus=nohz,domain,managed_irq,2-7",
            "fail",
            ("nohz_full=2-5",),
        ),
        (
            "isolcpus=domain,managed_irq,all",
            "fail",
            ("all",),
        ),
    ],
)
def test_what_is_amiss_is_said(
    argument: str, verdict: str, facts: tuple[str, ...], says: Says
) -> None:
    finding = CHECK.judge(host(CHECK, booted(argument)), UNBALANCED)
    assert finding.verdict == verdict
    assert finding.text == says(*facts)
    assert finding.expected == "isolcpus=domain,managed_irq,2-7"


def test_openshift_is_warned_of_the_flag_domain() -> None:
    finding = CHECK.judge(host(CHECK, booted("isolcpus=domain,managed_irq,2-7")), OPENSHIFT)
    assert finding.verdict == "warn"
    assert "balancing" in finding.text


def test_an_intent_that_says_nonsense_is_unknown(says: Says) -> None:
    declared = intent(kernel={"arguments": ["isolcpus=banana"]})
    finding = CHECK.judge(host(CHECK, booted("isolcpus=2-7")), declared)
    assert finding.verdict == "unknown"
    assert finding.text == says("isolcpus=banana")


def test_without_an_intent_it_does_not_apply() -> None:
    assert CHECK.judge(host(CHECK, booted("")), None).verdict == "not-applicable"


@pytest.mark.parametrize("path", [CMDLINE, CPUINFO])
def test_what_may_not_be_read_is_unknown(path: str) -> None:
    files = booted("isolcpus=2-7")
    del files[path]
    finding = CHECK.judge(host(CHECK, files, forbidden=[path]), intent())
    assert finding.verdict == "unknown"
    assert path in finding.text


def test_a_list_that_the_kernel_cannot_read_is_to_be_replaced() -> None:
    view = host(CHECK, booted("isolcpus=domain,managed_irq,2-x"))
    finding = CHECK.judge(view, UNBALANCED)
    assert commands(finding) == [
        "grubby --update-kernel=ALL --args=isolcpus=domain,managed_irq,2-7"
    ]
