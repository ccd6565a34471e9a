"""Arguments of the kernel: by grubby on a host, by the performance profile on OpenShift."""

from plimsoll.tune.audit.expected_argument import add_at_boot
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

OPENSHIFT = intent(platform="openshift", pool={"role": "worker"})


def test_it_is_a_command_that_lasts() -> None:
    added = add_at_boot(intent(), "nohz=on", "nohz_full=2-7")
    assert (added.kind, added.text, added.lasts, added.boot_arguments) == (
        "command",
        "grubby --update-kernel=ALL '--args=nohz=on nohz_full=2-7'",
        "for-good",
        ("nohz=on", "nohz_full=2-7"),
    )


def test_on_openshift_the_operator_makes_some_of_the_profile(says: Says) -> None:
    made = add_at_boot(OPENSHIFT, "nohz=on", "nohz_full=2-7")
    assert made.openshift == says(
        "PerformanceProfile", "nohz=on", "nohz_full=2-7", "-f", "1-node/20-performance-profile.yaml"
    )


def test_and_the_profile_names_others_itself(says: Says) -> None:
    named = add_at_boot(OPENSHIFT, "pcie_aspm.policy=performance")
    assert named.openshift == says(
        "PerformanceProfile",
        "additionalKernelArgs",
        "pcie_aspm.policy=performance",
        "kernel.arguments",
        "-f",
        "1-node/20-performance-profile.yaml",
    )
