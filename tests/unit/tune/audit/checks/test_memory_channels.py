"""Check 19. Formats: Linux, Documentation/ABI/testing/sysfs-devices-edac."""

from plimsoll.tune.audit.checks.memory_channels import CHECK
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.machines import AMD, CPUINFO, GUEST, INTEL, ONLINE, cores
from tests.worded.says import Says

NODES = cores((0,), (1,), (2,), (3,), nodes={0: "0-1", 1: "2-3"})
CONTROLLER = "/sys/devices/system/edac/mc/mc0"
NODE_1_MEMORY = "/sys/devices/system/node/node1/meminfo"


def channels(*sizes_mb: int) -> dict[str, str]:
    """A controller of as many channels, with one slot each; 0 is an empty slot."""
    files = {f"{CONTROLLER}/max_location": f"channel {len(sizes_mb) - 1} slot 0 \n"}
    for channel, size_mb in enumerate(sizes_mb):
        if size_mb:
            folder = f"{CONTROLLER}/dimm{channel}"
            files[f"{folder}/dimm_location"] = f"channel {channel} slot 0 \n"
            files[f"{folder}/size"] = f"{size_mb}\n"
    return files


def test_equal_channels_are_ok(says: Says) -> None:
    files = NODES | {CPUINFO: INTEL} | channels(32768, 32768, 32768)
    finding = CHECK.judge(host(CHECK, files), None)
    assert finding.verdict == "ok"
    assert finding.text == says("mc0", "3")


def test_an_empty_channel_and_unequal_ones_are_warned_of(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, NODES | {CPUINFO: INTEL} | channels(8192, 0, 8192)), None)
    assert finding.verdict == "warn"
    assert finding.text == says("mc0", "1")
    finding = CHECK.judge(host(CHECK, NODES | {CPUINFO: INTEL} | channels(8192, 4096)), None)
    assert finding.verdict == "warn"
    assert finding.text == says("mc0")


def test_a_node_without_memory_fails(says: Says) -> None:
    for cpuinfo in (INTEL, GUEST):
        files = NODES | {CPUINFO: cpuinfo, NODE_1_MEMORY: "Node 1 MemTotal:       0 kB\n"}
        finding = CHECK.judge(host(CHECK, files), None)
        assert finding.verdict == "fail"
        assert finding.text == says("1")


def test_a_guests_memory_is_laid_out_by_its_hypervisor(says: Says) -> None:
    """Even where it is shown a controller: the firmware's tables are made for it."""
    for files in (NODES, NODES | channels(8192, 0)):
        finding = CHECK.judge(host(CHECK, files | {CPUINFO: GUEST}), None)
        assert finding.verdict == "not-applicable"
        assert finding.text == says()


def test_an_epyc_counts_ranks_by_chip_select(says: Says) -> None:
    """amd64_edac's places: "csrow 0 channel 3"."""
    files = NODES | {CPUINFO: AMD, f"{CONTROLLER}/max_location": "csrow 3 channel 1 \n"}
    for rank, place in enumerate(("csrow 0 channel 0", "csrow 1 channel 0", "csrow 0 channel 1")):
        folder = f"{CONTROLLER}/rank{rank}"
        files |= {f"{folder}/dimm_location": f"{place} \n", f"{folder}/size": "16384\n"}
    finding = CHECK.judge(host(CHECK, files), None)
    assert finding.verdict == "warn"
    assert finding.text == says("mc0")


def test_a_machine_without_edac_is_unknown() -> None:
    finding = CHECK.judge(host(CHECK, NODES | {CPUINFO: INTEL}), None)
    assert finding.verdict == "unknown"
    assert "EDAC" in finding.text


def test_what_may_not_be_read_is_unknown() -> None:
    view = host(CHECK, {CPUINFO: INTEL}, forbidden=[ONLINE])
    assert CHECK.judge(view, None).verdict == "unknown"
