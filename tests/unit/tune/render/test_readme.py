import pytest

from plimsoll.tune.intent.load import preset_names
from tests.unit.tune.intent_documents import HOST, intent_with
from tests.unit.tune.render.rendering import rendered


@pytest.mark.parametrize("preset", preset_names())
def test_every_file_is_in_the_table_and_can_be_undone(preset: str) -> None:
    files = rendered(preset)
    readme = files.pop("README.md").text
    for path in files:
        assert f"| `{path}` | " in readme
        assert f"- `{path}`: " in readme


def test_steps_for_a_pool_of_its_own() -> None:
    readme = rendered("openshift-deterministic")["README.md"].text
    steps = [line for line in readme.splitlines() if line[:1].isdigit()]
    assert steps[0] == "1. Set the firmware by `bios-checklist.md`."
    assert "`oc label node NODE node-role.kubernetes.io/reghwol=`" in steps[1]
    assert "oc patch machineconfigpool reghwol" in steps[2]
    assert steps[3] == "4. `oc apply -f 1-node/`"
    assert "`oc apply -f 2-network/`" in steps[5]
    assert steps[7] == "8. `generator/` goes to the generator's host."


def test_alternatives_are_not_applied() -> None:
    readme = rendered("openshift-sno-vdu")["README.md"].text
    assert "`alternatives/` is **not** applied with the rest" in readme
    assert "oc apply -f alternatives" not in readme


def test_expectation() -> None:
    readme = rendered("telco-core-rds")["README.md"].text
    assert "tuned.non_isolcpus=00000003,00000003" in readme
    assert "`hugepages-allocation-1048576kB-NUMA1.service`" in readme
    assert "Runtime class `performance-customcnf`, whose handler is `high-performance`" in readme


def test_names_do_not_break_the_table() -> None:
    nic = {"name": "east", "vendor": "8086", "pf_names": ["a|<b>"], "num_vfs": 1}
    readme = rendered(intent_with(HOST, nics=[nic]))["README.md"].text
    assert "a|" not in readme
    assert "<b>" not in readme
