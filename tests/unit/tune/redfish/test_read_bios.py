"""Reading a BMC on loopback whose answers are made by hand (answers/README.md)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from plimsoll.errors import InputError, MachineError
from plimsoll.tune.host.view.host_view import BiosAnswer
from plimsoll.tune.redfish.bmc_credentials import BmcCredentials
from plimsoll.tune.redfish.read_bios import read_bios
from tests.unit.tune.redfish.bmc import PASSWORD, USER, answers, bmc
from tests.worded.says import Says

WHO = BmcCredentials(USER, PASSWORD)
BIOS = "/redfish/v1/Systems/1/Bios"


def read(vendor: str, folder: Path, **attributes: object) -> BiosAnswer:
    with bmc(answers(vendor, **attributes), folder) as served:
        return read_bios(served.address, WHO, served.ca_file)


@pytest.mark.parametrize(
    ("vendor", "named", "model"),
    [
        ("dell", "Dell", "PowerEdge R750"),
        ("hpe", "HPE", "ProLiant DL360 Gen10"),
        ("lenovo", "Lenovo", "ThinkSystem SR650 V2"),
        ("supermicro", "Supermicro", "SYS-620P-TRT"),
    ],
)
def test_the_vendor_is_known_by_the_makers_name(
    vendor: str, named: str, model: str, tmp_path: Path
) -> None:
    answer = read(vendor, tmp_path)
    assert (answer.vendor, answer.model) == (named, model)
    assert answer.where.startswith("https://127.0.0.1:")
    assert answer.where.endswith("/Bios")


def test_only_what_the_map_knows_is_kept(tmp_path: Path) -> None:
    """Service tag, hash of the password and all the rest stay where they are."""
    assert read("dell", tmp_path).attributes == {
        "LogicalProc": "Disabled",
        "ProcTurboMode": "Disabled",
        "ProcCStates": "Disabled",
        "ProcC1E": "Disabled",
        "PcieAspmL1": "Disabled",
        "SysProfile": "PerfOptimized",
        "ProcPwrPerf": "MaxPerf",
    }


def test_a_bmc_is_requested_by_get_alone(tmp_path: Path) -> None:
    for vendor in ("dell", "hpe", "lenovo", "supermicro"):
        with bmc(answers(vendor), tmp_path) as served:
            read_bios(served.address, WHO, served.ca_file)
        assert served.methods == {"GET"}
        assert all("Sessions" not in path for _, path, _ in served.requested)


def test_only_a_login_gets_the_password(tmp_path: Path) -> None:
    with bmc(answers("hpe"), tmp_path) as served:
        read_bios(served.address, WHO, served.ca_file)
    assert served.requested[0] == ("GET", "/redfish/v1/", "")
    assert {who for _, _, who in served.requested[1:]} == {f"{USER}:{PASSWORD}"}


def test_a_certificate_of_an_unknown_issuer_is_refused(tmp_path: Path, says: Says) -> None:
    with bmc(answers("dell"), tmp_path) as served:
        with pytest.raises(MachineError) as caught:
            read_bios(served.address, WHO)
        assert caught.value == says("--ca-file")
        assert served.requested == []
    assert caught.value == says("--ca-file")


def test_no_variable_of_the_environment_changes_what_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    with bmc(answers("dell"), tmp_path) as served:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(served.ca_file))
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
        with pytest.raises(MachineError) as caught:
            read_bios(served.address, WHO)
        assert caught.value == says("--ca-file")
        assert read_bios(served.address, WHO, served.ca_file).vendor == "Dell"


def test_a_wrong_password_is_reported_and_not_quoted(tmp_path: Path, says: Says) -> None:
    with bmc(answers("dell"), tmp_path) as served:
        with pytest.raises(MachineError) as caught:
            read_bios(served.address, BmcCredentials(USER, "guessed"), served.ca_file)
        assert served.methods == {"GET"}
    assert caught.value == says(str(served.address))


def test_a_link_to_another_host_is_not_followed(tmp_path: Path, says: Says) -> None:
    """It would be sent the password."""
    resources = answers("hpe")
    with bmc({}, tmp_path) as other:
        resources["/redfish/v1/Systems/1"]["Bios"] = {"@odata.id": other.address + BIOS}
        with (
            bmc(resources, tmp_path) as served,
            pytest.raises(MachineError) as caught,
        ):
            read_bios(served.address, WHO, served.ca_file)
        assert caught.value == says(served.address)
        assert other.requested == []


def test_several_systems_are_not_chosen_among(tmp_path: Path) -> None:
    resources = answers("hpe")
    system = resources["/redfish/v1/Systems/1"]
    resources["/redfish/v1/Systems/2"] = system | {"@odata.id": "/redfish/v1/Systems/2"}
    resources["/redfish/v1/Systems"]["Members"].append({"@odata.id": "/redfish/v1/Systems/2"})
    with bmc(resources, tmp_path) as served, pytest.raises(MachineError, match="or several"):
        read_bios(served.address, WHO, served.ca_file)


@pytest.mark.parametrize(
    "content", [b"[]", b'"text"', b"null", b"<html>", b"[" * 100_000, b'{"Members": {}}']
)
@pytest.mark.parametrize("path", ["/redfish/v1", "/redfish/v1/Systems", "/redfish/v1/Systems/1"])
def test_what_is_no_redfish_is_reported_as_such(content: bytes, path: str, tmp_path: Path) -> None:
    with (
        bmc(answers("hpe") | {path: content}, tmp_path) as served,
        pytest.raises(MachineError) as caught,
    ):
        read_bios(served.address, WHO, served.ca_file)
    assert caught.value.where == served.address
    assert str(caught.value).isprintable()


def test_an_endless_answer_is_cut(tmp_path: Path) -> None:
    resources = answers("hpe") | {BIOS: b'{"Attributes": "' + b"x" * (9 << 20) + b'"}'}
    with bmc(resources, tmp_path) as served, pytest.raises(MachineError, match="more than 8 MiB"):
        read_bios(served.address, WHO, served.ca_file)


def test_what_a_bmc_says_is_printable(tmp_path: Path) -> None:
    answer = read("hpe", tmp_path, ProcTurbo="\x1b[31mred" + "x" * 1000)
    assert answer.attributes["ProcTurbo"].startswith("?[31mred")
    assert len(answer.attributes["ProcTurbo"]) == 200


def test_attributes_that_are_no_object_are_none(tmp_path: Path) -> None:
    resources = answers("hpe")
    resources[BIOS]["Attributes"] = ["ProcTurbo"]
    with bmc(resources, tmp_path) as served:
        assert read_bios(served.address, WHO, served.ca_file).attributes == {}


def test_no_listener_is_reported(tmp_path: Path) -> None:
    with bmc({}, tmp_path) as served:
        pass
    with pytest.raises(MachineError) as caught:
        read_bios(served.address, WHO, served.ca_file)
    assert caught.value.remedy == "check the address, and that the BMC is reachable from here"


def test_a_missing_file_of_authorities_is_reported(tmp_path: Path, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        read_bios("https://127.0.0.1:1", WHO, tmp_path / "none.pem")
    assert caught.value == says("none.pem")


def test_a_file_of_authorities_that_is_none_is_reported(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "authorities.pem"
    path.write_text("no certificate")
    with pytest.raises(InputError) as caught:
        read_bios("https://127.0.0.1:1", WHO, path)
    assert caught.value == says(str(path), "certificate")


def test_without_sushy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sushy", None)
    with pytest.raises(MachineError) as caught:
        read_bios("https://127.0.0.1:1", WHO)
    assert caught.value.remedy.endswith("build EXTRAS=redfish")
