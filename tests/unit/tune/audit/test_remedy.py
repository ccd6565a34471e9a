"""Steps by who keeps a host's settings."""

import pytest

from plimsoll.tune.audit.expected_argument import add_at_boot
from plimsoll.tune.audit.finding import (
    SettingsOwner,
    advice,
    command,
    fitted,
    owner_of,
    write,
    write_on_each,
)
from plimsoll.tune.audit.setting import (
    NETWORK_FILES,
    PATCH_FILE,
    POD_FILES,
    POLICY_FILES,
    PROFILE_FILE,
)
from plimsoll.tune.host.boot.operating_system import OS_RELEASE
from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.capture.capture_privacy import matches
from plimsoll.tune.intent.load import load_preset
from plimsoll.tune.render.render import render
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

ROOTS, OPERATORS = SettingsOwner(managed=False, boot_tool="grubby"), SettingsOwner(True, "operator")


def message(*steps: object, owner: SettingsOwner = OPERATORS) -> list[tuple[str, str]]:
    return [(step.kind, step.text) for step in fitted(steps, owner)]  # type: ignore[arg-type]


def test_operators_are_given_the_object_and_the_command_for_a_trial(says: Says) -> None:
    assert message(write("/sys/x", "1", openshift="an object")) == [
        ("advice", "an object"),
        ("advice", says("1", "/sys/x", "echo 1 > /sys/x")),
    ]


def test_an_object_is_reported_once_however_many_commands_it_stands_for() -> None:
    steps = [write(f"/sys/{n}", "1", openshift="an object") for n in range(3)]
    assert [text for _, text in message(*steps)].count("an object") == 1


def test_what_lasts_or_takes_something_is_no_trial() -> None:
    lasting = command("systemctl", "stop", "x", openshift="an object", lasts="for-good")
    taking = command("swapoff", "-a", openshift="another", takes="memory")
    assert message(lasting, taking) == [("advice", "an object"), ("advice", "another")]


def test_what_has_no_rule_is_the_operators(says: Says) -> None:
    (first, *_) = message(command("rm", "-r", "x"))
    assert first[0] == "advice"
    assert first[1] == says("OpenShift", "PerformanceProfile", "MachineConfig")


def test_a_command_that_sets_nothing_is_one_everywhere() -> None:
    looked = command("plimsoll", "calibrate", openshift=None)
    for owner in (ROOTS, OPERATORS):
        assert message(looked, owner=owner) == [("command", "plimsoll calibrate")]


def test_advice_may_be_another_there() -> None:
    step = advice("edit the file", openshift="an object")
    assert message(step) == [("advice", "an object")]
    assert message(step, owner=ROOTS) == [("advice", "edit the file")]


def test_each_command_that_takes_something_has_its_own_word_before() -> None:
    steps = [write(path, "0", takes="the same") for path in ("/sys/a", "/sys/b")]
    assert [kind for kind, _ in message(*steps, owner=ROOTS)] == ["advice", "command"] * 2


def test_a_file_of_each_cpu_is_written_in_one_line(says: Says) -> None:
    step = write_on_each({3, 1}, "/sys/cpu$cpu/x", "a b")
    assert step.text == says(
        "a b", "cpu", "1", "3", "/sys/cpu$cpu/x", "for cpu in 1 3", "echo 'a b' > /sys/cpu$cpu/x"
    )


@pytest.mark.parametrize(
    ("release", "managed", "tool"),
    [
        ('ID="rhcos"\nID_LIKE="rhel fedora"\nVARIANT_ID=coreos\n', True, "operator"),
        ('ID="rhel"\nVARIANT_ID=coreos\nOPENSHIFT_VERSION="4.19"\n', True, "operator"),
        ('ID="centos"\nID_LIKE="rhel fedora"\n', False, "grubby"),
        ("ID=fedora\nVARIANT_ID=coreos\n", False, "rpm-ostree"),
        ("ID=fedora\nVARIANT_ID=server\n", False, "grubby"),
        ("ID=ubuntu\nID_LIKE=debian\n", False, "update-grub"),
        ("ID=linuxmint\nID_LIKE='ubuntu debian'\n", False, "update-grub"),
        ("ID=gentoo\n", False, None),
        ("ID=`reboot`\n", False, None),
        ("", False, None),
    ],
)
@pytest.mark.parametrize("path", OS_RELEASE)
def test_the_host_says_who_keeps_it(
    path: str, release: str, managed: bool, tool: str | None
) -> None:
    view = CapturedHost(files={path: release})
    assert owner_of(view, intent()) == SettingsOwner(managed, tool)  # type: ignore[arg-type]
    assert owner_of(view, None).managed is managed


def test_the_intent_says_so_where_the_host_does_not() -> None:
    nothing = CapturedHost(files={}, collected=())
    declared = intent(platform="openshift", pool={"role": "worker"})
    assert owner_of(nothing, declared) == SettingsOwner(managed=True, boot_tool=None)


def test_arguments_go_where_the_system_has_them() -> None:
    step = add_at_boot(intent(), "nohz=on")
    assert message(step, owner=ROOTS) == [
        ("command", "grubby --update-kernel=ALL --args=nohz=on"),
    ]
    for tool in ("update-grub", "rpm-ostree", None):
        ((kind, text),) = message(step, owner=SettingsOwner(False, tool))  # type: ignore[arg-type]
        assert kind == "advice"
        assert text.startswith("boot with nohz=on: ")
        assert (tool or "run update-grub") in text


def test_the_files_that_are_named_are_rendered() -> None:
    presets = ("openshift-deterministic", "openshift-sno-vdu")
    rendered = {f"/{each.path}" for name in presets for each in render(load_preset(name))}
    for file in (PROFILE_FILE, PATCH_FILE, POLICY_FILES, NETWORK_FILES, POD_FILES):
        assert any(matches(f"/{file}", path) for path in rendered), file
