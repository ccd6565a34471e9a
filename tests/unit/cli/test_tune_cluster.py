"""`plimsoll tune audit` of a cluster, and `plimsoll tune reference`."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.errors import InputError
from tests.unit.tune.cluster.api_server import api_server, kubeconfig
from tests.unit.tune.cluster.clusters import INTENT, objects
from tests.worded.says import Says

runner = CliRunner()
PROFILE = "cluster-scoped-resources/performance.openshift.io/performanceprofiles/fast.yaml"


@pytest.fixture
def intent(tmp_path: Path) -> Path:
    path = tmp_path / "intent.yaml"
    path.write_text(INTENT)
    return path


@pytest.fixture
def gathered(tmp_path: Path) -> Path:
    """A must-gather of one PerformanceProfile, with a hostile list of CPUs."""
    profile = objects()[0]
    profile["spec"]["cpu"]["isolated"] = "\x1b]0;2-5"
    path = tmp_path / "must-gather" / PROFILE
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(profile))
    return tmp_path / "must-gather"


def audited(*options: str) -> tuple[int, str]:
    result = runner.invoke(app, ["tune", "audit", *options])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout


def test_a_must_gather_is_reported_in_the_table_of_a_host(
    intent: Path, gathered: Path, says: Says
) -> None:
    status, text = audited("--intent", str(intent), "--from", str(gathered))
    assert status == 1
    lines = text.splitlines()
    assert lines[0] == says("pool", "dataplane", str(gathered), "fast")
    assert lines[1].split() == ["verdict", "#", "check", "found"]
    assert lines[2].split()[:3] == ["fail", "101", "performance-profile"]
    assert "\x1b" not in text
    assert lines[-1].startswith("18 checks: 1 fail")


def test_what_to_do_is_reported_with_the_object(intent: Path, gathered: Path, says: Says) -> None:
    _, text = audited("--intent", str(intent), "--from", str(gathered), "--fix")
    assert text == says("101", "PerformanceProfile", "plimsoll tune render")
    assert all(line.startswith("#") or not line for line in text.splitlines())


def test_a_live_cluster_as_expected_ends_with_0(
    tmp_path: Path, intent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("kubernetes", reason="the extra kube is not installed")
    with api_server(objects()) as server:
        (tmp_path / "config").write_text(kubeconfig(server.url))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
        options = ("--intent", str(intent), "--kube", "--context", "here", "--json")
        status, text = audited(*options)
    document = json.loads(text)
    assert (status, document["counts"]["ok"]) == (0, 18)
    assert document["findings"][0]["group"] == "cluster"


@pytest.mark.parametrize(
    ("refused", "status"),
    [
        # What cannot be told is no failure, and no success.
        ({"nodes": 500, "performanceprofiles": 500}, 5),
        ({"nodes": 403}, 5),
        # A profile that is not there fails, whatever else cannot be told.
        ({"nodes": 500, "performanceprofiles": 404}, 1),
    ],
)
def test_a_live_cluster_that_cannot_be_read_ends_with_5(
    tmp_path: Path,
    intent: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: dict[str, int],
    status: int,
) -> None:
    pytest.importorskip("kubernetes", reason="the extra kube is not installed")
    with api_server(objects()) as server:
        server.refused |= {plural: (answer, "Refused") for plural, answer in refused.items()}
        (tmp_path / "config").write_text(kubeconfig(server.url))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
        ended, text = audited("--intent", str(intent), "--kube", "--json")
    counts = json.loads(text)["counts"]
    assert (ended, counts["fail"] > 0) == (status, status == 1)
    assert counts["unknown"] > 0


def test_a_capture_and_a_cluster_are_one_table(
    tmp_path: Path, intent: Path, gathered: Path
) -> None:
    root = tmp_path / "root"
    (root / "proc/sys/kernel").mkdir(parents=True)
    (root / "proc/sys/kernel/hostname").write_text("worker-1\n")
    options = ("--intent", str(intent), "--root", str(root), "--from", str(gathered), "--json")
    _, text = audited(*options)
    document = json.loads(text)
    numbers = [each["number"] for each in document["findings"]]
    assert numbers == sorted(numbers)
    assert {1, 101, 118} <= set(numbers)
    assert document["host"] == "worker-1"
    assert document["source"] == f"{root}, {gathered}"


@pytest.mark.parametrize(
    ("options", "where", "facts"),
    [
        (["--kube"], "--kube", ("--intent",)),
        (["--from", "x"], "--from", ("--intent",)),
        (["--context", "x"], "--context", ("--kube",)),
        (["--kube", "--from", "x"], "--kube, --from", ("--kube, --from",)),
    ],
)
def test_options_that_do_not_go_together(
    options: list[str], where: str, facts: tuple[str, ...], says: Says
) -> None:
    refused = runner.invoke(app, ["tune", "audit", *options]).exception
    assert isinstance(refused, InputError)
    assert refused.where == where
    assert refused == says(*facts)


def test_a_reference_is_written_once_and_not_over_others(tmp_path: Path, intent: Path) -> None:
    folder = tmp_path / "reference"
    arguments = ["tune", "reference", str(intent), "-o", str(folder)]
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0
    assert f"oc cluster-compare -r {folder}/metadata.yaml" in result.stdout
    assert (folder / "performanceprofiles-fast.yaml").exists()
    assert runner.invoke(app, arguments).exit_code == 0
    (folder / "metadata.yaml").write_text("mine")
    refused = runner.invoke(app, arguments).exception
    assert isinstance(refused, InputError)
    assert "--force" in refused.remedy
    assert runner.invoke(app, [*arguments, "--force"]).exit_code == 0


def test_a_reference_of_another_platform_is_refused(tmp_path: Path) -> None:
    arguments = ["tune", "reference", "bare-metal", "-o", str(tmp_path / "r")]
    refused = runner.invoke(app, arguments).exception
    assert isinstance(refused, InputError)
    assert not (tmp_path / "r").exists()
