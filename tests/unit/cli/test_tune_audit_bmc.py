"""`plimsoll tune audit --bmc`, against a BMC on loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.errors import InputError
from tests.unit.tune.redfish.bmc import PASSWORD, USER, answers, bmc
from tests.worded.says import Says

runner = CliRunner()
INTENT = """\
name: declared
platform: bare-metal
cpus: {reserved: "0", isolated: "1"}
bios: {turbo: off, smt: off}
"""


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    """An intent, an empty host, and credentials."""
    (tmp_path / "intent.yaml").write_text(INTENT)
    (tmp_path / "root" / "proc").mkdir(parents=True)
    who = tmp_path / "who"
    who.write_text(f"user={USER}\npassword={PASSWORD}\n")
    who.chmod(0o600)
    root, intent = tmp_path / "root", tmp_path / "intent.yaml"
    options = ["--intent", str(intent), "--root", str(root), "--bmc-credentials", str(who)]
    return ["tune", "audit", "--json", *options]


def test_the_firmware_is_a_finding_among_others(
    given: list[str], tmp_path: Path, says: Says
) -> None:
    with bmc(answers("dell", ProcTurboMode="Enabled"), tmp_path) as served:
        requested = [*given, "--bmc", served.address, "--ca-file", str(served.ca_file)]
        result = runner.invoke(app, requested)
    assert served.methods == {"GET"}
    assert result.exit_code == 1
    assert PASSWORD not in result.output
    found = {each["number"]: each for each in json.loads(result.stdout)["findings"]}
    assert found[18]["verdict"] == "fail"
    assert found[18]["text"] == says("ProcTurboMode", "Enabled")
    assert found[18]["read"][0]["where"] == (
        f"{served.address}/redfish/v1/Systems/System.Embedded.1/Bios"
    )


def test_credentials_without_a_bmc_are_a_mistake(given: list[str], says: Says) -> None:
    result = runner.invoke(app, given)
    assert isinstance(result.exception, InputError)
    assert str(result.exception) == says("--bmc-credentials", "https://HOST")
