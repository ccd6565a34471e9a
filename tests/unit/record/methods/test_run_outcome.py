"""What a list says of each method's result; the figures are worked out by hand."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from plimsoll.methods.trial.result import trial_outcome
from plimsoll.record.methods.method import RunOutcome
from plimsoll.record.methods.registry import outcome_of
from tests.unit.record.index.run_dirs import RESULT
from tests.worded.says import Says

HEAD: dict[str, Any] = {
    "run_id": "r",
    "name": "demo",
    "quick": False,
    "shortfalls": [],
    "notes": [],
    "trials": RESULT["trials"],
    "invalid_reasons": [],
    "versions": {},
}
SUBJECT = {
    "frames": "64",
    "sizes": [64],
    "mean_frame_size": 64.0,
    "maximum_pps": 14_880_952.4,
    "maximum_basis": "line-rate",
}
BIG = {**SUBJECT, "frames": "1518", "sizes": [1518], "mean_frame_size": 1518.0}
IMIX = {**SUBJECT, "frames": "imix simple", "sizes": [64, 570, 1518], "mean_frame_size": 353.8}


def outcome(method: str, result: dict[str, Any]) -> RunOutcome:
    found = outcome_of(method, json.dumps({"method": method, **result}).encode())
    assert found is not None
    return found


def said(found: RunOutcome) -> tuple[str, str, float | None, str]:
    assert found.answer is not None
    return found.answer.text, found.answer.figure, found.answer.value, found.answer.unit


def test_a_load_line() -> None:
    found = outcome("load-line", RESULT)
    text = "3.025 Mpps per direction"
    assert said(found) == (text, "load line", 3_025_000.0, "pps per direction")
    assert (found.verdict, found.period, found.complete) == ("pass", "trial-0007", True)


def test_a_search_that_found_none() -> None:
    found = outcome("load-line", {**RESULT, "load_line": None, "validation": None})
    assert said(found) == ("no load line", "load line", None, "pps per direction")
    assert (found.verdict, found.period, found.complete) == ("fail", None, True)


def test_a_search_that_the_tester_ended_is_invalid(says: Says) -> None:
    none = {**RESULT, "load_line": None, "validation": None}
    diagnosis = {"sentences": ["CPU 0 was busy"], "remedy": "stop it"}
    found = outcome("load-line", {**none, "diagnosis": diagnosis})
    assert said(found)[0] == says()
    assert found.verdict == "invalid"
    counts = {**RESULT["trials"], "by_verdict": {"pass": 0, "fail": 0, "invalid": 4}}
    assert outcome("load-line", {**none, "trials": counts}).verdict == "invalid"


def test_a_single_trial() -> None:
    found = trial_outcome(500_000.0, "invalid", 3)
    text = "500 kpps per direction: invalid"
    assert said(found) == (text, "load", 500_000.0, "pps per direction")
    assert (found.verdict, found.period, found.complete) == ("invalid", "trial-0003", True)


def soak(**changes: Any) -> RunOutcome:
    def segment(trial: int, sending_s: float) -> dict[str, Any]:
        return {
            "trial": trial,
            "begin_unix_ns": 1,
            "gap_s": 0.0,
            "sending_s": sending_s,
            "windows": 1,
            "verdict": "pass",
            "reasons": [],
            "streams": [],
        }

    windows = dict.fromkeys(("passed", "failed", "invalid", "unjudged"), 0)
    windows_s = dict.fromkeys(("window_s", "passed_s", "failed_s", "invalid_s"), 0.0)
    result = {
        **HEAD,
        "load": "500kpps",
        "load_pps": 500_000.0,
        "requested_s": 28_800.0,
        "sent_s": 28_800.0,
        "ended": "duration",
        "verdict": "pass",
        "criteria": [],
        "windows": {**windows, **windows_s},
        "segments": [segment(2, 10.0), segment(4, 28_790.0)],
        "losses": {
            "frames": 0,
            "event_count": 0,
            "events": [],
            "no_loss_s": None,
            "events_per_hour_below": None,
        },
        "drift": [],
        "spikes": {"factor": 10.0, "usual_ns": {}, "counts": {}, "worst": []},
        "tester": {"stalls": 0, "worst_stall_ns": 0, "worst_stalled_share": 0.0},
        "dut_agreement": None,
    }
    return outcome("soak", {**result, **changes})


def test_the_offered_load_is_reported_with_the_intended_one() -> None:
    line = {**RESULT["load_line"], "intended_pps_per_direction": 3_070_000.0}
    found = outcome("load-line", {**RESULT, "load_line": line})
    text = "3.025 Mpps per direction (3.07 Mpps intended)"
    assert said(found) == (text, "load line", 3_025_000.0, "pps per direction")
    text = "pass at 495 kpps (500 kpps intended) for 8h00m"
    assert said(soak(offered_pps=495_000.0)) == (text, "load", 495_000.0, "pps per direction")


def test_a_soak_rests_on_its_longest_trial() -> None:
    found = soak()
    text = "pass at 500 kpps for 8h00m"
    assert said(found) == (text, "load", 500_000.0, "pps per direction")
    assert (found.verdict, found.period, found.complete) == ("pass", "trial-0004", True)


def test_a_soak_that_a_signal_ended_can_go_on() -> None:
    assert not soak(ended="signal").complete
    assert soak(ended="failure", verdict="fail").complete
    assert soak(segments=[]).period is None


def probe_statistics(median_ns: int | None) -> dict[str, Any]:
    stream = {
        **dict.fromkeys(("sent", "received", "timed_out", "across_stalls", "samples"), 0),
        "name": "probe",
        "sum_ns": 0,
        "min_ns": median_ns,
        "max_ns": median_ns and median_ns * 10,
        "latency_us": [],
        "buckets": [],
    }
    quantiles = ("p99_ns", "p99_9_ns", "p99_99_ns", "p99_999_ns", "loss_ratio", "mean_ns")
    return {
        "stream": stream,
        "lost": 0,
        "median_ns": median_ns,
        "deviation_ns": None,
        **dict.fromkeys(quantiles),
    }


def probe(medians_ns: list[int | None], **changes: Any) -> RunOutcome:
    segment = {
        "trial": 1,
        "begin_unix_ns": 1,
        "sending_s": 60.0,
        "gap_s": 0.0,
        "verdict": "pass",
        "reasons": [],
    }
    result = {
        **HEAD,
        "media": "memif",
        "rate_pps": None,
        "timeout_us": 1000.0,
        "requested_s": 60.0,
        "probed_s": 60.0,
        "ended": "duration",
        "statistics": [probe_statistics(each) for each in medians_ns],
        "windows": [],
        "segments": [segment],
    }
    return outcome("probe", {**result, **changes})


def test_a_probe_tells_its_slower_direction() -> None:
    found = probe([11_000, 12_500, None])
    text = "median 12.5 µs, worst 125 µs"
    assert said(found) == (text, "median latency", 12_500.0, "ns")
    assert (found.verdict, found.period, found.complete) == ("none", "trial-0001", True)


def test_a_probe_tells_both_ends_where_stalls_leave_them_open() -> None:
    def figures(median_ns: int, max_ns: int) -> dict[str, Any]:
        nulls = dict.fromkeys(("min_ns", "mean_ns"))
        return {**nulls, "samples": 5, "median_ns": median_ns, "max_ns": max_ns}

    given = probe_statistics(11_000)
    given |= {"low": figures(11_000, 60_000), "high": figures(12_000, 900_000)}
    found = probe([], statistics=[given])
    text = "median 11 µs to 12 µs, worst 60 µs to 900 µs"
    assert said(found) == (text, "median latency", 12_000.0, "ns")


def test_a_probe_whose_samples_stalls_may_all_have_delayed_came_back(says: Says) -> None:
    ends = {"samples": 5, "min_ns": 1, "mean_ns": 1.0, "median_ns": 1, "max_ns": 9}
    found = probe([], statistics=[{**probe_statistics(None), "low": ends, "high": ends}])
    assert found.verdict == "none"
    assert said(found)[0] == says("1", "9")


def test_a_probe_that_nothing_came_back_of(says: Says) -> None:
    found = probe([None], ended="signal")
    assert said(found) == (says(), "median latency", None, "ns")
    assert (found.verdict, found.complete) == ("fail", False)


def test_a_probe_that_the_tester_spoiled_is_invalid_whatever_came_back() -> None:
    segment = {"trial": 1, "begin_unix_ns": 1, "sending_s": 60.0, "gap_s": 0.0, "reasons": []}
    spoiled = [{**segment, "verdict": "invalid"}]
    assert probe([11_000], segments=spoiled).verdict == "invalid"
    assert probe([None], segments=spoiled).verdict == "invalid"


def point(load_pps: float, verdict: str, **p99_ns: int | None) -> dict[str, Any]:
    def stream(name: str, role: str, p99: int | None) -> dict[str, Any]:
        nulls = ("min_ns", "mean_ns", "max_ns", "p50_ns", "p90_ns", "p99_9_ns", "p99_99_ns")
        latency = {"count": 1, "p99_ns": p99, **dict.fromkeys(nulls)}
        return {
            "name": name,
            "role": role,
            "sent": 1,
            "lost": 0,
            "latency": latency,
            "across_stalls": 0,
        }

    roles = {"probe": "latency", "load": "load"}
    return {
        "percent": 90.0,
        "load_pps": load_pps,
        "trial": round(load_pps / 1000),
        "sending_s": 60.0,
        "streams": [stream(name, roles[name], p99) for name, p99 in p99_ns.items()],
        "verdict": verdict,
        "reason": None,
    }


def latency_at_load(*points: dict[str, Any]) -> RunOutcome:
    facts = {"media": "memif", "rate_pps": 10_000.0, "rate_from": "given", "reason": None}
    return outcome("latency-at-load", {**HEAD, **facts, "points": points})


def test_latency_at_load_tells_the_probes_at_the_heaviest_valid_load() -> None:
    found = latency_at_load(
        point(5000.0, "pass", load=1, probe=7000),
        point(9000.0, "pass", load=99_000, probe=8000),
        point(10_000.0, "invalid", load=1, probe=70_000),
    )
    assert said(found) == ("p99 8 µs at 9 kpps", "p99 latency", 8000.0, "ns")
    assert (found.verdict, found.period) == ("invalid", "trial-0009")
    assert latency_at_load(point(5000.0, "pass", load=6000)).verdict == "none"


def test_latency_at_load_tells_both_ends_where_stalls_leave_it_open() -> None:
    open_point = point(5000.0, "pass", probe=7000)
    latency = open_point["streams"][0]["latency"]
    open_point["streams"][0] |= {
        "across_stalls": 3,
        "latency_low": {**latency, "p99_ns": 7100},
        "latency_high": {**latency, "p99_ns": 9000},
    }
    expected = ("p99 7.1 µs to 9 µs at 5 kpps", "p99 latency", 9000.0, "ns")
    assert said(latency_at_load(open_point)) == expected


def test_latency_at_load_without_probes_and_without_anything() -> None:
    assert said(latency_at_load(point(5000.0, "pass", load=6000)))[0] == "p99 6 µs at 5 kpps"
    nothing = ("no latency measured", "p99 latency", None, "ns")
    assert said(latency_at_load()) == nothing
    assert said(latency_at_load(point(5000.0, "pass", probe=None))) == nothing


def throughput(
    subject: dict[str, Any], pps: float | None, verdict: str | None = None
) -> dict[str, Any]:
    return {
        "verdict": verdict,
        "subject": subject,
        "pps": pps,
        "percent_of_maximum": None,
        "l1_bps": None,
        "limited_by": None,
        "final_trial": None if pps is None else 12,
        "final_s": None,
        "trials": 3,
        "reason": None,
    }


def rfc2544(**parts: Any) -> RunOutcome:
    facts = {
        "traffic": "UDP",
        "media": "memif",
        "directions": 2,
        "latency_definition": "store and forward",
    }
    return outcome("rfc2544", {**HEAD, **facts, "parts": parts})


def test_rfc_2544_tells_the_smallest_frames_that_were_forwarded() -> None:
    rows = [throughput(BIG, 812_743.0), throughput(SUBJECT, None), throughput(IMIX, 3_000_000.0)]
    found = rfc2544(throughput=rows)
    text = "3 Mpps per direction, imix simple"
    assert said(found) == (text, "throughput", 3_000_000.0, "pps per direction")
    assert (found.verdict, found.period) == ("none", "trial-0012")
    with_64 = rfc2544(throughput=[*rows, throughput(SUBJECT, 1_488_000.0)])
    assert said(with_64)[0] == "1.488 Mpps per direction, 64 B"


def test_rfc_2544_without_a_throughput() -> None:
    none = ("no throughput", "throughput", None, "pps per direction")
    assert said(rfc2544(throughput=[throughput(SUBJECT, None)])) == none
    row: dict[str, Any] = {"subject": SUBJECT, "points": [], "complete": False}
    assert said(rfc2544(frame_loss=[row])) == ("frame loss", "tests", None, "")


def test_rfc_2544_is_judged_by_what_could_not_be_measured() -> None:
    measured, failed, spoiled = (
        throughput(SUBJECT, 1e6, "none"),
        throughput(BIG, None, "fail"),
        throughput(IMIX, None, "invalid"),
    )
    assert rfc2544(throughput=[measured]).verdict == "none"
    assert rfc2544(throughput=[measured, spoiled]).verdict == "invalid"
    assert rfc2544(throughput=[spoiled, failed]).verdict == "fail"
    lossy = {
        "percent": 100.0,
        "load_pps": 1e6,
        "offered": 10,
        "lost": 5,
        "loss_percent": 50.0,
        "verdict": "fail",
        "reason": None,
    }
    row = {"subject": SUBJECT, "points": [lossy], "complete": True}
    # To lose frames is what that test is about.
    assert rfc2544(frame_loss=[row]).verdict == "none"
    unknown = {**row, "points": [{**lossy, "verdict": "invalid", "lost": None}]}
    assert rfc2544(frame_loss=[unknown]).verdict == "invalid"


def rfc9004(*buffers: tuple[dict[str, Any], float | None, bool]) -> RunOutcome:
    rows = [
        {
            "throughput": throughput(subject, 1.0),
            "bursts": None,
            "implied_s": None,
            "corrected_s": corrected_s,
            "valid": valid,
            "reason": None,
        }
        for subject, corrected_s, valid in buffers
    ]
    facts = {"traffic": "UDP", "media": "memif", "directions": 2, "repetitions": 50}
    return outcome("rfc9004", {**HEAD, **facts, "rows": rows})


def test_rfc_9004_tells_the_first_valid_buffer() -> None:
    found = rfc9004((SUBJECT, 9.0, False), (BIG, 0.0012, True))
    assert said(found) == ("buffer 1.2 ms, 1518 B", "buffer time", 0.0012, "s")
    none = ("no valid buffer time", "buffer time", None, "s")
    assert said(rfc9004((SUBJECT, None, True))) == none
    assert found.verdict == "none"
    # It tested, and says nothing of a buffer: bursts at their limit, or a DUT as fast as the line.
    assert rfc9004((SUBJECT, 9.0, False)).verdict == "invalid"


def matrix(*loads_pps: float | None) -> RunOutcome:
    samples = [
        {
            "number": number,
            "directory": f"iteration-0001/sample-{number}",
            "load_line_pps": load_pps,
            "limited_by": None,
            "reason": None,
            "error": None,
        }
        for number, load_pps in enumerate(loads_pps, start=1)
    ]
    iteration = {"number": 1, "params": {}, "samples": samples, "load_line": None}
    facts = {"run_id": "r", "name": "sizes", "order": "sample", "seed": 0, "versions": {}}
    return outcome("matrix", {**facts, "iterations": [iteration]})


def matrix_of(*samples: tuple[str, float | None]) -> str:
    """The verdict on a matrix of samples with these verdicts and load lines."""
    found = [
        {
            "number": number,
            "directory": f"iteration-0001/sample-{number}",
            "load_line_pps": load_pps,
            "limited_by": None,
            "reason": None,
            "error": None,
            "verdict": verdict,
        }
        for number, (verdict, load_pps) in enumerate(samples, start=1)
    ]
    iteration = {"number": 1, "params": {}, "samples": found, "load_line": None}
    facts = {"run_id": "r", "name": "sizes", "order": "sample", "seed": 0, "versions": {}}
    return outcome("matrix", {**facts, "iterations": [iteration]}).verdict


def test_a_matrix_tells_how_many_load_lines_and_from_where_to_where(says: Says) -> None:
    found = matrix(2e6, 1e6, 3e6)
    text = "3 of 3 load lines, 1 Mpps to 3 Mpps"
    assert said(found) == (text, "load lines", None, "pps per direction")
    assert (found.verdict, found.complete) == ("pass", True)
    assert said(matrix(2e6, None))[0] == says("1", "2", "load", "lines")
    assert matrix(2e6, None).verdict == "fail"
    assert matrix_of(("pass", 1e6), ("invalid", None)) == "invalid"
    assert matrix_of(("fail", None), ("invalid", None)) == "fail"
    assert matrix_of(("pass", 1e6), ("none", None)) == "invalid"
    assert said(matrix(None))[0] == "0 of 1 load lines"


def test_a_method_of_another_version_is_not_known() -> None:
    assert outcome_of("telepathy", b"{}") is None


@pytest.mark.parametrize("content", [b"", b"\x00\xff", b"[]", b"{}", b'{"method": "load-line"}'])
def test_what_is_no_result_is_refused(content: bytes) -> None:
    with pytest.raises(ValidationError):
        outcome_of("load-line", content)


def test_figures_that_are_none_are_refused(says: Says) -> None:
    with pytest.raises(OverflowError):
        soak(sent_s=float("inf"))
    with pytest.raises(ValueError) as caught:
        soak(load_pps=float("nan"))
    assert caught.value == says()
