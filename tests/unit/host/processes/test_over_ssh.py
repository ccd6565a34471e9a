"""How other hosts are reached. Options: ssh_config(5); `ssh -G` prints what ssh made of them."""

import itertools
import shutil
import subprocess

import pytest

from plimsoll.host.processes.child import over_ssh


def options(command: tuple[str, ...]) -> dict[str, str]:
    pairs = itertools.pairwise(command)
    return dict(word.split("=") for option, word in pairs if option == "-o")


def test_it_neither_waits_for_a_dead_host_nor_lends_it_keys() -> None:
    command = over_ssh("root@node-1", "true")
    assert command[-3:] == ("--", "root@node-1", "true")
    assert options(command) == {
        "BatchMode": "yes",
        "ConnectTimeout": "15",
        "ForwardAgent": "no",
        "ForwardX11": "no",
        "ClearAllForwardings": "yes",
    }


@pytest.mark.skipif(shutil.which("ssh") is None, reason="ssh is not installed")
def test_it_wins_over_what_the_users_configuration_says(tmp_path: object) -> None:
    """`ssh -G` evaluates its configuration and connects to nothing."""
    configuration = f"{tmp_path}/config"
    with open(configuration, "w", encoding="utf-8") as file:
        file.write(
            "ForwardAgent yes\nForwardX11 yes\nConnectTimeout 900\nLocalForward 9 localhost:9\n"
        )
    ssh, *rest = over_ssh("root@node-1")
    done = subprocess.run(
        [ssh, "-G", "-F", configuration, *rest], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    for line in ("batchmode yes", "connecttimeout 15", "forwardagent no", "forwardx11 no"):
        assert line in lines
    assert "clearallforwardings yes" in lines
