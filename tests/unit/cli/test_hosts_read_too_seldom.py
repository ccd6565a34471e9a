"""Criteria on hosts that are read too seldom are refused before anything is written."""

import sys
from pathlib import Path

import pytest

from plimsoll.cli.main import main
from tests.worded.says import Says

EXPERIMENT = """\
lab: {kind: loopback}
generator: {cpus: [0]}
profile: {streams: [{name: load, role: load}]}
search: {minimum: 10kpps, maximum: 20kpps, duration: 2s}
observe: {interval: 6s}
criteria: [{kind: steal}]
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "search.duration is 2s"),
        (["trial", "--load", "10kpps", "--duration", "11s"], "--duration is 11s"),
        (
            ["soak", "--load", "10kpps", "--duration", "1m", "--window", "10s"],
            "--window is 10s",
        ),
    ],
)
def test_place_and_remedy(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    says: Says,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seldom.yaml").write_text(EXPERIMENT)
    command, *options = words
    monkeypatch.setattr(sys, "argv", ["plimsoll", command, "seldom.yaml", *options])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    message = " ".join(capsys.readouterr().err.split())
    assert message == says("observe.interval", "6s")
    assert said in message
    assert not (tmp_path / "runs").exists()
