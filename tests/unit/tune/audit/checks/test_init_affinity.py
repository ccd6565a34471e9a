"""Check 5. Format: proc_pid_status(5)."""

from plimsoll.tune.audit.checks.init_affinity import CHECK
from tests.unit.tune.audit.hosts import commands, host_of_8
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

STATUS = "/proc/1/status"


def status(cpus: str, mask: str = "ff") -> dict[str, str]:
    return {
        STATUS: f"Name:\tsystemd\nState:\tS (sleeping)\nCpus_allowed:\t{mask}\n"
        f"Cpus_allowed_list:\t{cpus}\nMems_allowed_list:\t0\n"
    }


def test_housekeeping_cpus_alone_are_ok() -> None:
    finding = CHECK.judge(host_of_8(CHECK, status("0-1", "3")), intent())
    assert finding.verdict == "ok"
    assert finding.read[0].what == "systemd, Cpus_allowed_list 0-1"


def test_isolated_cpus_fail(says: Says) -> None:
    finding = CHECK.judge(host_of_8(CHECK, status("0-7")), intent())
    assert finding.verdict == "fail"
    assert finding.text == says("systemd", "2-7")
    # systemd takes a list; TuneD writes it without ranges.
    assert commands(finding) == ["grubby --update-kernel=ALL --args=systemd.cpu_affinity=0,1"]


def test_what_is_not_systemd_is_given_no_argument_of_systemds(says: Says) -> None:
    for name in ("init", "tini"):
        files = {STATUS: status("0-7")[STATUS].replace("systemd", name)}
        finding = CHECK.judge(host_of_8(CHECK, files), intent())
        assert (finding.verdict, commands(finding)) == ("fail", [])
        assert finding.steps[0].text == says(str(name), "systemd")


def test_without_an_intent_it_does_not_apply() -> None:
    assert CHECK.judge(host_of_8(CHECK, status("0-7")), None).verdict == "not-applicable"


def test_unreadable_or_odd_is_unknown() -> None:
    for view in (
        host_of_8(CHECK, {}, forbidden=[STATUS]),
        host_of_8(CHECK, {STATUS: "Name:\tsystemd\n"}),
        host_of_8(CHECK, status("0-x")),
    ):
        finding = CHECK.judge(view, intent())
        assert finding.verdict == "unknown"
        assert STATUS in finding.text
