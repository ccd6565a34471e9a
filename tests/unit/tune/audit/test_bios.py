"""Check 18. Answers after the vendors' published attributes, made by hand."""

from __future__ import annotations

import pytest

from plimsoll.cli.tune.capture import needed_files
from plimsoll.terminal.options.bmc_options import HostWithBios
from plimsoll.tune.audit.checks.bios import CHECK
from plimsoll.tune.audit.finding import CheckFinding
from plimsoll.tune.host.capture.capture import CapturedHost
from plimsoll.tune.host.view.host_view import BiosAnswer
from plimsoll.tune.intent.intent import Intent
from tests.unit.tune.audit.hosts import host
from tests.unit.tune.audit.intents import intent
from tests.worded.says import Says

WHERE = "https://bmc.lab/redfish/v1/Systems/1/Bios"
ALL_OFF = {
    "smt": False,
    "turbo": False,
    "c_states": False,
    "aspm": False,
    "power_profile": "max-performance",
}
DELL = {
    "LogicalProc": "Disabled",
    "ProcTurboMode": "Disabled",
    "ProcCStates": "Disabled",
    "ProcC1E": "Disabled",
    "PcieAspmL1": "Disabled",
    "SysProfile": "PerfOptimized",
}
HPE = {
    "ProcHyperthreading": "Disabled",
    "ProcTurbo": "Disabled",
    "MinProcIdlePower": "NoCStates",
    "MinProcIdlePkgState": "NoState",
    "PciSlot1Aspm": "Disabled",
    "PciSlot12Aspm": "Disabled",
    "WorkloadProfile": "LowLatency",
    "PowerRegulator": "StaticHighPerf",
}
LENOVO = {
    "Processors_HyperThreading": "Disable",
    "Processors_TurboMode": "Disabled",
    "Processors_CStates": "Disabled",
    "Processors_C1EnhancedMode": "Disabled",
    "Power_ASPM": "Disabled",
    "OperatingModes_ChooseOperatingMode": "MaximumPerformance",
}
SUPERMICRO = {
    "Hyper-Threading[ALL]#0832": "Disable",
    "TurboMode#0850": "Disable",
    "CPUC6Report#0840": "Disable",
    "EnhancedHaltState(C1E)#0841": "Disable",
    "PackageCState#0843": "C0/C1 state",
    "PCI-EASPMSupport(Global)#0902": "Disable",
    "PowerTechnology#2800": "Custom",
    "ENERGY_PERF_BIAS_CFGmode#083A": "Maximum Performance",
}


def judged(vendor: str | None, attributes: dict[str, str], declared: Intent) -> CheckFinding:
    answer = BiosAnswer(
        where=WHERE,
        manufacturer=vendor or "QEMU",
        model="a model",
        bios_version="1",
        vendor=vendor,
        attributes=attributes,
    )
    return CHECK.judge(HostWithBios(host(CHECK, {}), answer), declared)


@pytest.mark.parametrize(
    ("vendor", "attributes"),
    [("Dell", DELL), ("HPE", HPE), ("Lenovo", LENOVO), ("Supermicro", SUPERMICRO)],
)
def test_all_as_the_article_sets_it_is_ok(
    vendor: str, attributes: dict[str, str], says: Says
) -> None:
    finding = judged(vendor, attributes, intent(bios=ALL_OFF))
    assert finding.verdict == "ok"
    assert finding.text == says()
    assert {reading.where for reading in finding.read} == {WHERE}


@pytest.mark.parametrize(
    ("vendor", "attributes", "changed", "facts"),
    [
        ("Dell", DELL, {"ProcTurboMode": "Enabled"}, ("ProcTurboMode", "Enabled")),
        ("Dell", DELL, {"ProcCStates": "Autonomous"}, ("ProcCStates", "Autonomous")),
        (
            "Dell",
            DELL,
            {"SysProfile": "PerfPerWattOptimizedDapc"},
            ("SysProfile", "PerfPerWattOptimizedDapc"),
        ),
        ("HPE", HPE, {"ProcHyperthreading": "Enabled"}, ("ProcHyperthreading", "Enabled")),
        (
            "HPE",
            HPE,
            {"PciSlot12Aspm": "AspmL1Enabled"},
            ("PciSlot12Aspm", "AspmL1Enabled"),
        ),
        (
            "HPE",
            HPE,
            {"PowerRegulator": "StaticLowPower"},
            ("PowerRegulator", "StaticLowPower"),
        ),
        (
            "Lenovo",
            LENOVO,
            {"Processors_CStates": "Legacy"},
            ("Processors_CStates", "Legacy"),
        ),
        # C1E is deeper than C1, and each of these is on by itself.
        ("Dell", DELL, {"ProcC1E": "Enabled"}, ("ProcC1E", "Enabled")),
        ("HPE", HPE, {"MinProcIdlePower": "C1E"}, ("MinProcIdlePower", "C1E")),
        (
            "HPE",
            HPE,
            {"MinProcIdlePkgState": "C6Retention"},
            ("MinProcIdlePkgState", "C6Retention"),
        ),
        (
            "Lenovo",
            LENOVO,
            {"Processors_C1EnhancedMode": "Enable"},
            ("Processors_C1EnhancedMode", "Enable"),
        ),
        (
            "Supermicro",
            SUPERMICRO,
            {"EnhancedHaltState(C1E)#0841": "Enable", "PackageCState#0843": "No Limit"},
            ("EnhancedHaltState(C1E)#0841", "Enable", "PackageCState#0843", "Limit"),
        ),
        # A package that stays in C0 may have cores in C6.
        (
            "Supermicro",
            SUPERMICRO,
            {"CPUC6Report#0840": "Auto"},
            ("CPUC6Report#0840", "Auto"),
        ),
        (
            "Supermicro",
            SUPERMICRO,
            {"ENERGY_PERF_BIAS_CFGmode#083A": "Power"},
            ("ENERGY_PERF_BIAS_CFGmode#083A", "Power"),
        ),
    ],
)
def test_one_that_is_otherwise_fails(
    vendor: str,
    attributes: dict[str, str],
    changed: dict[str, str],
    facts: tuple[str, ...],
    says: Says,
) -> None:
    finding = judged(vendor, attributes | changed, intent(bios=ALL_OFF))
    assert finding.verdict == "fail"
    assert finding.text == says(*facts)
    assert [step.kind for step in finding.steps] == ["advice"]


def test_what_is_expected_on_is_judged_too() -> None:
    declared = intent(bios={"turbo": True})
    assert judged("Dell", DELL, declared).verdict == "fail"
    assert judged("Dell", DELL | {"ProcTurboMode": "Enabled"}, declared).verdict == "ok"


def test_what_the_intent_leaves_out_is_not_judged() -> None:
    finding = judged("Dell", DELL | {"ProcTurboMode": "Enabled"}, intent(bios={"smt": False}))
    assert (finding.verdict, finding.text) == ("ok", "SMT is off")


def test_a_profile_left_to_the_operating_system_is_warned_of(says: Says) -> None:
    finding = judged("HPE", HPE | {"PowerRegulator": "OsControl"}, intent(bios=ALL_OFF))
    assert finding.verdict == "warn"
    assert finding.text == says("PowerRegulator", "OsControl")


def test_a_profile_of_single_settings_is_recognised_by_those() -> None:
    declared = intent(bios={"power_profile": "max-performance"})
    custom = {"SysProfile": "Custom", "ProcPwrPerf": "MaxPerf"}
    assert judged("Dell", custom, declared).verdict == "ok"
    assert judged("Dell", {"SysProfile": "Custom"}, declared).verdict == "warn"


def test_an_attribute_that_the_bmc_does_not_tell_is_unknown(says: Says) -> None:
    finding = judged("Lenovo", {"Processors_TurboMode": "Disabled"}, intent(bios=ALL_OFF))
    assert finding.verdict == "unknown"
    assert finding.text == says("Power_ASPM")


def test_a_value_that_the_map_does_not_know_is_unknown(says: Says) -> None:
    finding = judged("Dell", {"LogicalProc": "Sometimes"}, intent(bios={"smt": False}))
    assert finding.verdict == "unknown"
    assert finding.text == says("LogicalProc", "Sometimes")


def test_a_maker_without_a_map_is_unknown(says: Says) -> None:
    finding = judged(None, {}, intent(bios={"smt": False}))
    assert finding.verdict == "unknown"
    assert finding.text == says()


def test_c1_itself_is_no_deep_state() -> None:
    """HPE's servers with AMD processors have C1 where others have C1E."""
    declared = intent(bios={"c_states": False})
    assert judged("HPE", {"MinProcIdlePower": "C1"}, declared).verdict == "ok"


def test_a_value_that_no_one_knows_hides_behind_no_other(says: Says) -> None:
    answer = {"ProcCStates": "Disabled", "ProcC1E": "Sometimes"}
    finding = judged("Dell", answer, intent(bios={"c_states": False}))
    assert finding.verdict == "unknown"
    assert finding.text == says("ProcC1E", "Sometimes")


def test_hpes_workload_profile_is_recognised_by_what_it_sets(says: Says) -> None:
    declared = intent(bios={"power_profile": "max-performance"})
    set_so = {"WorkloadProfile": "GeneralPowerEfficientCompute"}
    assert judged("HPE", set_so | {"PowerRegulator": "StaticHighPerf"}, declared).verdict == "ok"
    finding = judged("HPE", set_so, declared)
    assert finding.verdict == "warn"
    assert finding.text == says("WorkloadProfile", "GeneralPowerEfficientCompute")


def test_a_file_of_the_host_is_no_answer_of_its_bmc(says: Says) -> None:
    forged = CapturedHost(files={"/redfish/bios.json": "{}"})
    finding = CHECK.judge(forged, intent(bios={"smt": False}))
    assert finding.text == says("plimsoll tune audit --bmc", "https://…")
    assert not any("redfish" in path for path in needed_files().files)


def test_without_a_bmc_it_does_not_apply(says: Says) -> None:
    finding = CHECK.judge(host(CHECK, {}), intent(bios=ALL_OFF))
    assert finding.verdict == "not-applicable"
    assert finding.text == says("plimsoll tune audit --bmc", "https://…")


def test_without_a_wish_it_does_not_apply() -> None:
    assert judged("Dell", DELL, intent()).verdict == "not-applicable"


def test_a_name_that_was_worked_out_is_said_to_be(says: Says) -> None:
    finding = judged("Supermicro", SUPERMICRO, intent(bios={"aspm": False}))
    assert finding.read[0].what == says("PCI-EASPMSupport(Global)#0902")
    assert judged("Dell", DELL, intent(bios={"aspm": False})).read[0].what == "PcieAspmL1 Disabled"


def test_the_finding_says_that_the_names_were_never_tried() -> None:
    assert any("not with BMCs" in source for source in CHECK.sources)
