"""`plimsoll import trafficgen`."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.cli.main import app
from plimsoll.errors import InputError
from tests.worded.says import Says

ROOT = Path(__file__).parents[3]
PROFILE = ROOT / "examples" / "trafficgen.profile.json"
OURS = ["import", "trafficgen", "--profile", str(PROFILE)]
THEIRS = ["binary-search.py", "--traffic-generator", "trex-txrx-profile", "--rate-unit", "%"]
runner = CliRunner()


def test_the_experiment_goes_to_standard_output_and_notes_do_not(
    tmp_path: Path, says: Says
) -> None:
    result = runner.invoke(app, [*OURS, "--", *THEIRS, "--rate", "60", "--compress-files"])
    assert result.exit_code == 0
    path = tmp_path / "imported.yaml"
    path.write_text(result.stdout)
    assert load_experiment(path).name == "trafficgen.profile"
    assert result.stderr == says("--compress-files", "0", "1")


def test_it_is_written_to_a_file_that_is_not_there_yet(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "written.yaml"
    words = [*OURS, "--name", "mine", "--output", str(path), "--", *THEIRS]
    result = runner.invoke(app, words)
    assert (result.exit_code, result.stdout) == (0, "")
    assert load_experiment(path).name == "mine"
    again = runner.invoke(app, words)
    assert isinstance(again.exception, InputError)
    assert str(again.exception) == says(str(path), "--output")


def test_trex_cfg_says_what_the_devices_are(tmp_path: Path) -> None:
    trex = tmp_path / "trex_cfg.yaml"
    trex.write_text("- interfaces: ['0000:87:00.0', '0000:87:00.1']\n")
    result = runner.invoke(app, [*OURS, "--trex-cfg", str(trex), "--", *THEIRS])
    assert "    - devargs: 0000:87:00.0 # device 0\n" in result.stdout
    assert "TRex's numbers" not in result.stderr


@pytest.mark.parametrize("option", ["--rat", "--unheard-of"])
def test_an_option_that_trafficgen_does_not_have_is_an_error(option: str) -> None:
    result = runner.invoke(app, [*OURS, "--", *THEIRS, option, "5"])
    assert isinstance(result.exception, InputError)
    assert result.exception.where == option
    assert result.stdout == ""
