import pytest

from plimsoll.cluster.pods.inside import cpu_fields, device_fields
from plimsoll.errors import InputError, MachineError
from tests.worded.says import Says

POLLED = [("generator.cpus[0]", 2), ("generator.cpus[1]", 4), ("lab.cpu", 3)]


def set_to(fields: object) -> dict[str, object]:
    return {each.path.text: each.value for each in fields}  # type: ignore[attr-defined]


def test_cpus_that_the_pod_has_stay_as_they_are() -> None:
    assert cpu_fields(POLLED, {0, 1, 2, 3, 4, 5}) == ()


def test_other_cpus_go_to_the_loops_in_their_order_and_the_first_is_left() -> None:
    fields = cpu_fields(POLLED, {17, 19, 40, 41})
    assert set_to(fields) == {"generator.cpus[0]": 19, "generator.cpus[1]": 41, "lab.cpu": 40}


def test_a_pod_without_a_cpu_for_everything_else_is_refused(says: Says) -> None:
    with pytest.raises(MachineError) as caught:
        cpu_fields(POLLED, {17, 19, 40})
    assert caught.value == says("3", "17,19,40")


DEVICES = {
    "PCIDEVICE_OPENSHIFT_IO_TESTER_A": "0000:3b:02.1,0000:3b:02.2",
    "PCIDEVICE_OPENSHIFT_IO_TESTER_B": "0000:5e:0a.0",
}


def test_devices_are_those_that_the_pod_was_handed() -> None:
    lab = {
        "kind": "external",
        "ports": [
            {"devargs": "{openshift.io/tester_a}"},
            {"devargs": "{openshift.io/tester_a:1},dv_flow_en=1"},
            {"devargs": "{openshift.io/tester-b}"},
            {"devargs": "0000:01:00.0"},
            {"netdev": "net1", "devargs": None},
        ],
    }
    assert set_to(device_fields({"lab": lab}, DEVICES)) == {
        "lab.ports.0.devargs": "0000:3b:02.1",
        "lab.ports.1.devargs": "0000:3b:02.2,dv_flow_en=1",
        "lab.ports.2.devargs": "0000:5e:0a.0",
    }


def test_a_lab_without_ports_has_no_devices() -> None:
    assert device_fields({"lab": {"kind": "testpmd-memif"}}, DEVICES) == ()


def test_a_device_that_was_not_handed_out_is_refused() -> None:
    lab = {"ports": [{"devargs": "{openshift.io/tester_b:1}"}]}
    with pytest.raises(InputError, match=r"has 1 devices openshift.io/tester_b") as refused:
        device_fields({"lab": lab}, DEVICES)
    assert refused.value.where == "lab.ports.0.devargs"
