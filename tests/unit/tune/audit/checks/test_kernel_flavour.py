"""Check 11. Version strings of Debian's, RHEL's and RHEL's 64k kernels."""

import pytest

from plimsoll.tune.audit.checks.kernel_flavour import CHECK
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

REALTIME, VERSION, RELEASE = "/sys/kernel/realtime", "/proc/version", "/proc/sys/kernel/osrelease"
PLAIN = "Linux version 6.1.0-18-amd64 (gcc) #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1"
RT = "Linux version 5.14.0-427.13.1.rt14-427.el9.x86_64+rt (gcc) #1 SMP PREEMPT_RT Wed"
OLD_RT = "Linux version 4.18.0-372.rt7.el8.x86_64 (gcc) #1 SMP PREEMPT Wed"
WANTS_RT = intent(kernel={"realtime": True})


@pytest.mark.parametrize("files", [{VERSION: RT}, {VERSION: OLD_RT, REALTIME: "1"}])
def test_a_real_time_kernel_where_one_is_expected(files: dict[str, str]) -> None:
    assert CHECK.judge(host(CHECK, files), WANTS_RT).verdict == "ok"
    assert CHECK.judge(host(CHECK, files), intent()).verdict == "fail"


def test_a_plain_kernel(says: Says) -> None:
    assert CHECK.judge(host(CHECK, {VERSION: PLAIN}), intent()).verdict == "ok"
    finding = CHECK.judge(host(CHECK, {VERSION: PLAIN}), WANTS_RT)
    assert finding.verdict == "fail"
    assert finding.text == says()
    assert finding.steps[0].text == says()


def test_pages_of_64_kib(says: Says) -> None:
    declared = intent(kernel={"page_size": "64k"})
    files = {VERSION: PLAIN, RELEASE: "5.14.0-427.13.1.el9_4.aarch64+64k"}
    assert CHECK.judge(host(CHECK, files), declared).verdict == "ok"
    files[RELEASE] = "5.14.0-427.13.1.el9_4.aarch64"
    finding = CHECK.judge(host(CHECK, files), declared)
    assert finding.verdict == "fail"
    assert finding.text == says("4k")


def test_without_an_intent_it_does_not_apply() -> None:
    assert CHECK.judge(host(CHECK, {VERSION: PLAIN}), None).verdict == "not-applicable"


def test_what_may_not_be_read_is_unknown() -> None:
    view = host(CHECK, {}, forbidden=[VERSION])
    assert CHECK.judge(view, intent()).verdict == "unknown"
