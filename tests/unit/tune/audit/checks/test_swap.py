"""Check 27. Format: proc_swaps(5)."""

from plimsoll.tune.audit.checks.swap import CHECK
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

PATH = "/proc/swaps"
HEAD = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
LINE = "/dev/dm-1                               partition\t8388604\t\t1024\t\t-2\n"
OFF = intent(services={"swap": False})


def test_no_swap_is_ok() -> None:
    assert CHECK.judge(host(CHECK, {PATH: HEAD}), OFF).verdict == "ok"
    assert CHECK.judge(host(CHECK, {}), OFF).verdict == "ok"


def test_a_swap_area_fails() -> None:
    finding = CHECK.judge(host(CHECK, {PATH: HEAD + LINE}), OFF)
    assert finding.verdict == "fail"
    assert "/dev/dm-1 (1024 of 8388604 KiB used)" in finding.text


def available(kib: int) -> dict[str, str]:
    return {"/proc/meminfo": f"MemTotal: 65536000 kB\nMemAvailable:   {kib} kB\n"}


def test_what_is_swapped_out_is_reported_before_it_comes_back(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, {PATH: HEAD + LINE} | available(4096)), OFF)
    assert [(step.kind, step.text) for step in finding.steps] == [
        (
            "advice",
            says("1024", "KiB", "4096"),
        ),
        ("command", "swapoff -a"),
    ]
    finding = CHECK.judge(host(CHECK, {PATH: HEAD + LINE}), OFF)
    assert finding.steps[0].text == says()


def test_where_memory_does_not_suffice_no_command_is_given(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, {PATH: HEAD + LINE} | available(1000)), OFF)
    (step,) = finding.steps
    assert step.kind == "advice"
    assert step.text == says("-a", "1024", "KiB")


def test_on_openshift_it_is_a_machine_configs(says: Says) -> None:
    requested = intent(platform="openshift", pool={"role": "worker"})
    for free in (4096, 1000):
        (step,) = CHECK.judge(host(CHECK, {PATH: HEAD + LINE} | available(free)), requested).steps
        assert step.text == says("MachineConfig")


def test_openshift_has_none_unrequested() -> None:
    requested = intent(platform="openshift", pool={"role": "worker"})
    assert CHECK.judge(host(CHECK, {PATH: HEAD + LINE}), requested).verdict == "fail"


def test_not_requested_for_is_not_judged() -> None:
    view = host(CHECK, {PATH: HEAD + LINE})
    assert CHECK.judge(view, intent()).verdict == "not-applicable"
    assert CHECK.judge(view, intent(services={"swap": True})).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    assert CHECK.judge(host(CHECK, {}, forbidden=[PATH]), OFF).verdict == "unknown"
