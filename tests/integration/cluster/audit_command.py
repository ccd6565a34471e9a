"""`plimsoll tune audit --kube`, as a user types it, on whatever a kubeconfig leads to."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from plimsoll.cli.main import app
from tests.integration.cluster.presets import verdicts_when_all_acted
from tests.integration.command import ROOT
from tests.integration.warm_start import run_warm

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")


@dataclass(frozen=True)
class AuditOutput:
    """What the command said: its exit status, verdicts and texts by number of check."""

    status: int
    verdicts: dict[int, str]
    texts: dict[int, str]
    kernel: str | None


def audited(config: Path, intent: str) -> AuditOutput:
    """What the command says, in this process: it starts faster so."""
    words = _words(intent, "--json")
    done = CliRunner().invoke(app, words, env=_environment(config))
    document = json.loads(done.stdout)
    findings = {each["number"]: each for each in document["findings"]}
    return AuditOutput(
        done.exit_code,
        {number: each["verdict"] for number, each in findings.items()},
        {number: each["text"] for number, each in findings.items()},
        document["kernel"],
    )


def refused(config: Path, intent: str) -> tuple[int, str]:
    """The exit status and the error of a command that cannot do it, on one line."""
    given = {name: value for name, value in _environment(config).items() if value is not None}
    own = {name: value for name, value in os.environ.items() if name not in _PROXIES}
    done = run_warm(_words(intent), ROOT, own | given)
    assert done.stdout == ""
    return done.returncode, " ".join(done.stderr.split())


def assert_turned(audit: AuditOutput, intent: str, turned: Mapping[int, tuple[str, str]]) -> None:
    """Those checks say otherwise, in those words, than when all is as intended; no others do."""
    verdicts = {number: verdict for number, (verdict, _) in turned.items()}
    assert audit.verdicts == verdicts_when_all_acted(intent) | verdicts, audit.texts
    for number, (_, words) in turned.items():
        assert words in audit.texts[number]
    assert audit.status == (1 if "fail" in verdicts.values() else 0)


def _words(intent: str, *more: str) -> list[str]:
    return ["tune", "audit", "--kube", "--intent", intent, *more]


def _environment(config: Path) -> dict[str, str | None]:
    """The server is on this host, so no proxy leads to it."""
    return {"KUBECONFIG": str(config), **dict.fromkeys(_PROXIES)}
