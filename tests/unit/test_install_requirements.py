"""What `make` installs by: uv, and pip where pip has settings that uv does not read."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "build-aux/install-requirements"
# Stands in for a virtual environment's Python with pip, and for uv; both write down their words.
PYTHON = """#!/bin/sh
case "$*" in
*"config list"*) cat "$(dirname "$0")/settings" ;;
*) echo "pip $*" >>"$(dirname "$0")/calls"; case "$*" in *uv.txt*) exit $UV_STATUS ;; esac ;;
esac
"""
UV = '#!/bin/sh\necho "uv [$SSL_CERT_FILE] $*" >>"$(dirname "$0")/calls"\n'


def installed(folder: Path, settings: str, uv_status: int = 0) -> list[str]:
    """The installs by pip or uv of two files, in order."""
    for name, text in (("python", PYTHON), ("uv", UV), ("settings", settings)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    subprocess.run(
        [PROGRAM, folder / "python", "one.txt", "two.txt"],
        env={"PATH": "/usr/bin:/bin", "UV_STATUS": str(uv_status)},
        capture_output=True,
        check=True,
    )
    calls = (folder / "calls").read_text().splitlines()
    assert all("--require-hashes" in call for call in calls)
    return calls


def test_uv_is_installed_by_its_hash_and_installs_the_rest(tmp_path: Path) -> None:
    by_pip, by_uv = installed(tmp_path, "")
    assert by_pip.startswith("pip -m pip ")
    assert by_pip.endswith("requirements/uv.txt")
    assert by_uv.startswith("uv [] pip install ")
    assert by_uv.endswith("--require-hashes -r one.txt -r two.txt")


def test_pips_certificates_are_uvs(tmp_path: Path) -> None:
    settings = "global.cert='/etc/lab.pem'\n:env:.default-timeout='180'\n"
    assert installed(tmp_path, settings)[1].startswith("uv [/etc/lab.pem] pip install ")


@pytest.mark.parametrize(
    "setting",
    [
        "global.index-url='https://mirror.example/simple'",
        ":env:.index-url='https://mirror.example/simple'",
        "install.no-index='true'",
        "global.proxy='http://proxy.example:3128'",
    ],
)
def test_pip_that_is_told_of_a_mirror_or_a_proxy_installs_itself(
    tmp_path: Path, setting: str
) -> None:
    (call,) = installed(tmp_path, f"{setting}\n")
    assert call.startswith("pip -m pip ")
    assert call.endswith("-r one.txt -r two.txt")


def test_where_there_is_no_uv_pip_installs(tmp_path: Path) -> None:
    _, call = installed(tmp_path, "", uv_status=1)
    assert call.startswith("pip -m pip ")
    assert call.endswith("-r one.txt -r two.txt")
