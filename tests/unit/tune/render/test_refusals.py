"""What is not rendered, and what is said of it."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.render import render
from tests.unit.tune.intent_documents import HOST, POOL, intent_with
from tests.worded.says import Says

CARD = {"name": "east", "pf_names": ["ens1"], "num_vfs": 4, "resource_name": "east"}


def refusal(intent: Intent) -> str:
    with pytest.raises(InputError) as caught:
        render(intent, origin="intent.yaml")
    assert caught.value.where == "intent.yaml"
    return f"{caught.value.message} / {caught.value.remedy}"


# In GRUB's configuration, in a TuneD profile or in a command each would be an order.
@pytest.mark.parametrize(
    "argument",
    [
        "a=$(id)",
        "a=`id`",
        'a="b"',
        "a='b'",
        "a;b",
        "a&b",
        "a|b",
        "a>b",
        "${f:exec:id}",
        "a\\b",
        "a#b",
    ],
)
@pytest.mark.parametrize("base", [HOST, POOL])
def test_arguments_that_a_shell_or_tuned_would_act_on(
    base: dict[str, Any], argument: str, says: Says
) -> None:
    said = refusal(intent_with(base, kernel={"arguments": ["audit=0", argument]}))
    assert said.startswith("kernel.arguments[1]: ")
    assert said == says("TuneD")


def test_usual_arguments_pass() -> None:
    usual = ["console=ttyS0,115200n8", "rd.luks.uuid=a-b", "ip=[2001:db8::1]::off", "nosmt=force"]
    line = render(intent_with(HOST, kernel={"arguments": usual}))[1].text
    assert line.endswith(" ".join(usual) + "\n")


@pytest.mark.parametrize(
    ("sections", "facts"),
    [
        (
            {"kernel": {"tuned_bootloader": {"cmdline_x": "${f:exec:id}"}}},
            ("${f:exec:id}", "kernel.tuned_bootloader.cmdline_x", "TuneD"),
        ),
        (
            {"kernel": {"tuned_bootloader": {"a]": "b"}}},
            ("kernel.tuned_bootloader.a]",),
        ),
        (
            {"scheduling": {"sysctls": {"vm.x": "${f:exec:id}"}}},
            ("${f:exec:id}", "scheduling.sysctls.vm.x", "TuneD"),
        ),
        (
            {"scheduling": {"sysctls": {"[service]": "x"}}},
            ("scheduling.sysctls.[service]",),
        ),
    ],
)
def test_options_that_are_more_than_that(
    sections: dict[str, Any], facts: tuple[str, ...], says: Says
) -> None:
    assert refusal(intent_with(POOL, **sections)) == says(*facts)


def test_tuneds_variables_pass() -> None:
    bootloader = {"cmdline_x": "+nohz_full=${isolated_cores}"}
    files = render(intent_with(POOL, kernel={"tuned_bootloader": bootloader}))
    assert any("cmdline_x=+nohz_full=${isolated_cores}" in file.text for file in files)


ROLE = "worker-cnf"


@pytest.mark.parametrize(
    ("pool", "facts"),
    [
        (
            {"role": ROLE, "selector": {"a": "b c"}},
            ("b c", "pool.selector", "63", "_"),
        ),
        (
            {"role": ROLE, "selector": {"/x": "b"}},
            ("/x", "pool.selector", "domain/name"),
        ),
        (
            {"role": "arbiter"},
            ("pool.role",),
        ),
    ],
)
def test_pools(pool: dict[str, Any], facts: tuple[str, ...], says: Says) -> None:
    assert refusal(intent_with(POOL | {"pool": pool})) == says(*facts)


@pytest.mark.parametrize(
    ("nic", "facts"),
    [
        (
            {"resource_name": None},
            ("nics[0].resource_name",),
        ),
        (
            {"resource_name": "_east"},
            ("nics[0].resource_name",),
        ),
        (
            {"pf_names": [], "pci": ["0000:05:00.0"], "vf_range": "0-1"},
            ("nics[0].vf_range", "pf_names"),
        ),
        (
            {"device_id": "158b"},
            ("nics[0].device_id",),
        ),
        (
            {"vendor": "15b3", "rdma": True, "num_vfs": 129},
            ("nics[0].num_vfs", "129", "mlx5", "128"),
        ),
    ],
)
def test_nics(nic: dict[str, Any], facts: tuple[str, ...], says: Says) -> None:
    assert refusal(intent_with(POOL, nics=[CARD | nic])) == says(*facts)


@pytest.mark.parametrize("field", ["annotations", "resources"])
def test_names_of_kubernetes_in_pods(field: str) -> None:
    value: dict[str, object] = {"a b/c": 1} if field == "resources" else {"x/": "y"}
    if field == "resources":
        value = {"a!/c": 1}
    pod = {"name": "p", "cpus": 1, "memory": "1Gi", field: value}
    assert f"pods[0].{field}: " in refusal(intent_with(POOL, pods=[pod]))


def test_all_mistakes_at_once(says: Says) -> None:
    intent = intent_with(POOL, nics=[CARD | {"resource_name": None, "device_id": "158b"}])
    with pytest.raises(InputError) as caught:
        render(intent, origin="intent.yaml")
    assert caught.value.message.splitlines()[0] == "2 mistakes:"
    assert caught.value == says("nics[0].device_id")


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "A", "a b", "", "x" * 64, pytest.param("a\nb", id="two lines"), "-a"]
)
def test_names_that_would_be_other_files(name: str, says: Says) -> None:
    """The intent refuses them, and files are named after nothing else."""
    with pytest.raises(InputError) as caught:
        intent_with(POOL | {"name": name})
    assert caught.value == says("63")
    pod = {"name": name, "cpus": 1, "memory": "1Gi"}
    with pytest.raises(InputError) as caught:
        intent_with(POOL, pods=[pod])
    assert caught.value == says("63")


def test_a_files_name_cannot_leave_its_comment(says: Says) -> None:
    files = render(intent_with(POOL), origin="x\nspec: {}\n.yaml")
    assert files[1].text.splitlines()[0] == says("{}?.yaml")


def test_a_description_has_no_markup() -> None:
    files = render(intent_with(POOL | {"description": "<b>x</b> [a](javascript:x)"}))
    assert "\\<b\\>x\\</b\\> \\[a\\](javascript:x)" in files[0].text


def test_paths_stay_below_the_folder() -> None:
    for file in render(intent_with(POOL, nics=[CARD])):
        assert not Path(file.path).is_absolute()
        assert ".." not in Path(file.path).parts
