"""The fixed list of commands, and that nothing else passes for one of them."""

import pytest

from plimsoll.tune.host.view.commands import check_command, commands_of
from tests.worded.says import Says


def test_a_command_of_a_form_is_its_words() -> None:
    assert check_command("tuned-adm active") == ("tuned-adm", "active")
    assert check_command("ethtool -k ens7f0np0.100") == ("ethtool", "-k", "ens7f0np0.100")
    assert check_command("systemctl is-active tuned") == ("systemctl", "is-active", "tuned")


@pytest.mark.parametrize(
    "command",
    [
        "",
        "id",
        "tuned-adm",
        "tuned-adm off",
        "tuned-adm  active",
        "ethtool -E ens7f0",
        "ethtool -k --reset",
        "ethtool -k ens7f0; id",
        "ethtool -k ens7f0 ens7f1",
        "ethtool -k $(id)",
        "ethtool -k e\nth0",
        "ethtool -k averylonginterface",
        "systemctl is-active sshd",
        "systemctl stop tuned",
    ],
)
def test_anything_else_is_refused(command: str, says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        check_command(command)
    assert caught.value == says()


def test_a_form_makes_a_command_of_each_interface_and_service() -> None:
    names = ("lo", "ens7f0", "-x", "a b")
    assert commands_of("ethtool -i <interface>", names) == ("ethtool -i lo", "ethtool -i ens7f0")
    assert "systemctl is-active irqbalance" in commands_of("systemctl is-active <service>")
    assert commands_of("tuned-adm verify") == ("tuned-adm verify",)
