"""TRex's own configuration file."""

from pathlib import Path

import pytest

from plimsoll.benchmark.trafficgen.trex_config import TrexConfig, device_of, load_trex_config
from plimsoll.errors import InputError
from tests.worded.says import Says

# The form of the one in "Build deterministic OpenShift dataplane performance with TRex".
WRITTEN = """\
-   c: 4
    interfaces:
    - 0000:87:00.0
    - 0000:87:00.1
    limit_memory: 2048
    platform:
        dual_if:
        -   socket: 1
            threads: [35, 33, 31, 29]
        latency_thread_id: 37
        master_thread_id: 39
    port_bandwidth_gb: 25
    version: 2
"""


def _load(folder: Path, text: str) -> TrexConfig:
    path = folder / "trex_cfg.yaml"
    path.write_text(text)
    return load_trex_config(path)


def test_devices_cpus_and_rate_are_read(tmp_path: Path) -> None:
    assert _load(tmp_path, WRITTEN) == TrexConfig(
        ("0000:87:00.0", "0000:87:00.1"), (35, 33, 31, 29), 25
    )


def test_interfaces_are_all_that_is_needed(tmp_path: Path) -> None:
    config = _load(tmp_path, "- interfaces: ['87:00.0', dummy]\n")
    assert config == TrexConfig(("87:00.0", "dummy"))
    assert device_of(config, 0) == "87:00.0"


@pytest.mark.parametrize("port", [1, 2])
def test_a_device_that_is_none_is_refused(port: int, says: Says) -> None:
    with pytest.raises(
        InputError,
    ) as caught:
        device_of(TrexConfig(("87:00.0", "dummy")), port)
    assert caught.value == says(str(port), "2")
    assert caught.value.where == "--device-pairs"


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("", ()),
        ("5", ()),
        ("[{}, {}]", ()),
        ("- c: 4\n", ()),
        ("- interfaces: []\n", ("interfaces",)),
        ("- {interfaces: [a], port_bandwidth_gb: -1}\n", ("port_bandwidth_gb",)),
        ("- {interfaces: [a], platform: {dual_if: [{threads: [x]}]}}\n", ("platform.dual_if.0",)),
        ("{", ()),
        ("[" * 5000, ()),
    ],
)
def test_mistakes_are_reported_with_the_file(
    tmp_path: Path, text: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        _load(tmp_path, text)
    assert caught.value == says("trex_cfg.yaml", *facts)
    assert caught.value.where == str(tmp_path / "trex_cfg.yaml")


def test_a_file_that_is_not_there_is_reported(tmp_path: Path, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        load_trex_config(tmp_path / "none.yaml")
    assert caught.value == says("none.yaml", "trex_cfg.yaml")
