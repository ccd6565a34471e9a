"""Arguments of the kernel: by grubby on a host, by the performance profile on OpenShift."""

from plimsoll.tune.audit.boot_arguments import add_at_boot, remove_at_boot
from tests.unit.tune.audit.intents import intent

OPENSHIFT = intent(platform="openshift", pool={"role": "worker"})


def test_on_a_host_they_are_commands() -> None:
    added = add_at_boot(intent(), "nohz=on", "nohz_full=2-7")
    assert (added.kind, added.text) == (
        "command",
        "grubby --update-kernel=ALL '--args=nohz=on nohz_full=2-7'",
    )
    removed = remove_at_boot(intent(), "isolcpus")
    assert removed.text == "grubby --update-kernel=ALL --remove-args=isolcpus"


def test_on_openshift_they_are_the_profiles() -> None:
    for step in (add_at_boot(OPENSHIFT, "nohz=on"), remove_at_boot(OPENSHIFT, "idle")):
        assert step.kind == "advice"
        assert "PerformanceProfile" in step.text
