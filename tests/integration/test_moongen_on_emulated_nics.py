"""A real MoonGen on network cards that QEMU emulates: load, and probes that its timestamper times.

Cards 1 and 2 are dpdk-testpmd's, 3 and 4 MoonGen's, by its own DPDK and vfio-pci. What is shown is
that probes are timed by MoonGen and its latencies come into the record; how exact they are, no
emulated card shows. MoonGen's driver is changed in the guest for what the model does otherwise
than the card (`vm/moongen_igb.lua`, `vm/moongen_timestamping.lua`).

`PLIMSOLL_MOONGEN` names the folder of a MoonGen that was built for a processor without AVX-512, as
the emulated one is (docs/generators.md).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from plimsoll.generator.moongen.settings import BINARY, PROGRAM
from tests.integration.command import assert_keeps_to_schema, finished_trials
from tests.integration.dut.namespace_lab import agreements
from tests.integration.unspoilt import unspoilt_in_guest
from tests.integration.vm.cards_experiment import ON_CARDS, SHORT_SEARCH
from tests.integration.vm.guest import CannotBoot
from tests.integration.vm.nic_guest import CARDS, HERE, NicGuest, booted

TREE = Path(os.environ.get("PLIMSOLL_MOONGEN", "/nowhere"))
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        not os.access(TREE / BINARY, os.X_OK),
        reason="needs a MoonGen, whose folder PLIMSOLL_MOONGEN names",
    ),
]
# By what its last line is, a file of MoonGen's.
CHANGED = {"return dev": "driver/igb.lua", "return mod": "timestamping.lua"}
PROBE = {
    "name": "probe",
    "role": "latency",
    "protocol": "PTP",
    "rate": "20pps",
    "pacing": {"one-in-flight": {"timeout": "500ms"}},
}
EXPERIMENT = ON_CARDS | {
    "name": "timed",
    "generator": {"kind": "moongen", "tree": str(TREE), "cpus": [1]},
    "profile": {"streams": [{"name": "load", "role": "load", "flows": 64}, PROBE]},
    "trial": {"drain": "2s", "warmup": None},
    # All of MoonGen's tasks share one of three processors, which the host emulates.
    "tester": {"rate_tolerance": "100%", "runtime_tolerance": "100%", "max_own_share": "100%"},
    "criteria": [{"kind": "loss-ratio"}],
    "search": SHORT_SEARCH,
}
# Hugepages that no one has, hidden files of DPDK's, files of runs, and processes: what there is.
LEFT = (
    "cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages; ls /dev/hugepages; "
    "ls -A /run | grep '^[.]'; ls -A /run/plimsoll; "
    f"cat /proc/[0-9]*/comm 2>/dev/null | grep -E '{PROGRAM}|testpmd'; true"
)


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NicGuest]:
    """Its four cards are vfio-pci's, and its MoonGen is changed."""
    folder = tmp_path_factory.mktemp("moongen")
    try:
        with booted("igb", folder) as guest:
            guest.bind_by_hand(*CARDS.values())
            for last, name in CHANGED.items():
                file = TREE / "libmoon" / "lua" / name
                more = (HERE / f"moongen_{file.name}").read_text()
                before, _, _ = file.read_text().rpartition(last)
                (folder / "shared" / file.name).write_text(f"{before}{more}\n{last}\n")
                guest.must(f"cp /shared/{file.name} {file}")
            guest.must("mkdir -p /run/plimsoll")
            yield guest
    except CannotBoot as missing:
        pytest.skip(str(missing))


def written(guest: NicGuest, **changed: Any) -> str:
    """The name of the experiment with some changes, as a file in the guest."""
    name = f"/shared/{'-'.join(['timed', *changed])}.yaml"
    content = yaml.safe_dump(EXPERIMENT | changed)
    (guest.folder / "shared" / Path(name).name).write_text(content)
    return name


def assert_timed(trial: dict[str, Any]) -> None:
    """All that was sent came back, testpmd counted the same, and most probes were timed."""
    assert trial["verdict"] == "pass", trial["findings"]
    assert all(each["received"] == each["sent"] > 0 for each in trial["streams"])
    assert agreements(trial) == ["ok"] * 4
    probes = [each for each in trial["streams"] if each["role"] == "latency"]
    assert [each["name"] for each in probes] == ["probe/0-1", "probe/1-0"]
    for each in probes:
        assert 0.8 * each["sent"] <= each["latency"]["count"] <= each["sent"]
        # A probe is given up after so many ns.
        assert 0 < each["latency"]["min_ns"] <= each["latency"]["max_ns"] < 1_000_000_000


def test_a_search_has_the_latencies_of_its_probes(guest: NicGuest) -> None:
    before = guest.must(LEFT)
    done = unspoilt_in_guest(guest, f"run {written(guest)} --runs /shared/searched")
    assert done.status == 0, done.said
    (run,) = (guest.folder / "shared" / "searched").iterdir()
    judged = [each for each in finished_trials(run) if each["phase"] in ("search", "validation")]
    assert [each["phase"] for each in judged] == ["search", "search", "validation"]
    for trial in judged:
        assert_timed(trial)
    result = json.loads((run / "result.json").read_text())
    assert_keeps_to_schema(result, "result")
    assert result["load_line"]["intended_pps_per_direction"] == 200
    assert guest.must(LEFT) == before


def test_probes_for_their_own_sake_are_timed(guest: NicGuest) -> None:
    words = "--duration 3s --rate 20pps --runs /shared/probed"
    done = unspoilt_in_guest(guest, f"probe {written(guest)} {words}")
    assert done.status == 0, done.said
    (run,) = (guest.folder / "shared" / "probed").iterdir()
    (probed,) = [trial for trial in finished_trials(run) if trial["phase"] == "probe"]
    assert all(each["received"] == each["sent"] > 0 for each in probed["streams"])
    assert all(each["latency"]["count"] > 0 for each in probed["streams"])


def test_what_one_that_is_killed_had_is_given_back(guest: NicGuest) -> None:
    """Its hugepages, and the file that its DPDK does not remove, by the next command."""
    before = guest.must(LEFT)
    words = "--load 100pps --duration 60s --runs /shared/killed"
    running = guest.start_plimsoll(f"trial {written(guest)} {words}")
    # Its DPDK has the hugepages by then, and its loops begin.
    guest.must(
        f"until ls -A /run | grep -q hugepage_info || [ -e /shared/{running}.status ]; do "
        "sleep 0.5; done; sleep 5; kill -9 $(cat /run/plimsoll.pid)"
    )
    guest.wait(running)
    guest.must(f"until [ \"$({LEFT})\" = '{before.strip()}' ]; do sleep 0.5; done")
