"""`plimsoll run --on kube://…` on a real API server, kubelet and containerd.

Opt-in, for it takes an image and half an hour of builds: `make kube-node`, an image archive of
`make image` (`buildah push localhost/plimsoll:… docker-archive:FILE:localhost/plimsoll:…`) named
by PLIMSOLL_TEST_IMAGE, and root. Else it is skipped, and says what is missing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration.cluster.real_node import PAUSE, enter, missing_parts
from tests.integration.command import ROOT

pytestmark = pytest.mark.full
_LONGEST_S = 1800


@pytest.fixture
def image() -> tuple[Path, str]:
    """The archive, and the name that the image has in it."""
    archive = Path(os.environ.get("PLIMSOLL_TEST_IMAGE", "/nowhere"))
    missing = missing_parts()
    if os.geteuid() != 0:
        missing.append("root")
    if not archive.is_file():
        missing.append("an image archive in PLIMSOLL_TEST_IMAGE (make image)")
    if missing:
        pytest.skip(f"real pods need {', '.join(missing)}")
    return archive, os.environ.get("PLIMSOLL_TEST_IMAGE_NAME", f"localhost/plimsoll:{_version()}")


def test_a_run_goes_into_a_pod_and_comes_back_whatever_is_killed(
    tmp_path: Path, image: tuple[Path, str]
) -> None:
    archive, name = image
    found = enter(
        "tests.integration.cluster.pod_runs",
        str(tmp_path),
        name,
        str(archive),
        str(pause_image(tmp_path)),
        timeout_s=_LONGEST_S,
    )
    told = {each["what"]: each for each in map(json.loads, found.stdout.splitlines())}
    assert found.returncode == 0, f"{found.stdout[-4000:]}{found.stderr[-8000:]}"

    whole = told["whole"]
    assert whole["status"] == 0, whole["said"]
    assert {"result.json", "journal.jsonl", "environment.json", "report.html"} <= {*whole["files"]}
    assert any(name.startswith("metrics/") for name in whole["files"])
    assert whole["left"] == []

    killed = told["killed"]
    assert any(name.startswith("plimsoll-") for name in killed["pods"])
    assert killed["status"] == 0, killed["said"]
    # The run itself was never interrupted: it was followed again.
    assert killed["resumed"] == 0
    assert any("is there still" in line for line in killed["said"])
    assert killed["left"] == []

    cleaned = told["cleaned"]
    assert (cleaned["status"], cleaned["left"]) == (0, [])
    assert any(line.startswith("removed Pod plimsoll-") for line in cleaned["said"])


def pause_image(folder: Path) -> Path:
    """An archive of an image whose one program waits, for the pods' first containers."""
    source, program = folder / "pause.c", folder / "pause"
    source.write_text("#include <unistd.h>\nint main(void) { for (;;) pause(); }\n")
    subprocess.run(["gcc", "-static", "-O", "-o", program, source], check=True)
    return write_image(folder / "pause.tar", PAUSE, program)


def write_image(archive: Path, name: str, program: Path) -> Path:
    """An image of one layer with one file, which it starts, as `docker save` writes it."""
    folder = archive.with_suffix(".image")
    (folder / "root").mkdir(parents=True)
    shutil.copy(program, folder / "root" / program.name)
    subprocess.run(["tar", "-cf", folder / "layer.tar", "-C", folder / "root", "."], check=True)
    layer = subprocess.run(
        ["sha256sum", folder / "layer.tar"], capture_output=True, text=True, check=True
    ).stdout.split()[0]
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": [f"/{program.name}"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer}"]},
    }
    (folder / "config.json").write_text(json.dumps(config))
    listed = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    (folder / "manifest.json").write_text(json.dumps(listed))
    parts = ["manifest.json", "config.json", "layer.tar"]
    subprocess.run(["tar", "-cf", archive, "-C", folder, *parts], check=True)
    return archive


def _version() -> str:
    return subprocess.run(
        [ROOT / "build-aux" / "print-version"], capture_output=True, text=True, check=True
    ).stdout.strip()
