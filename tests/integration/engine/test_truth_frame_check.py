"""Damage outside of the signature, by the account of a DUT that does it on purpose."""

from collections.abc import Iterator
from typing import Any

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from tests.integration.engine.delay_dut import path
from tests.integration.engine.requests import Request, stream
from tests.integration.engine.truth_bed import Truth, TruthBed, truth_bed

SENT = 1000
SIGNATURE_BYTES = 18
FRAME_BYTES = 200
ETHERNET_BYTES = 14
IPV4_CHECKSUM_AT = 24
TTL_AT = 22


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TruthBed]:
    with truth_bed(tmp_path_factory.mktemp("truth")) as bed:
        yield bed


def frame(**udp: Any) -> bytes:
    """With the checksums that Scapy works out, and room for the signature."""
    header = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:00")
    payload = bytes(range(100)) + bytes(FRAME_BYTES - 42 - 100)
    packet = IP(src="198.18.0.1", dst="198.19.0.1") / UDP(sport=49184, dport=49185, **udp)
    return bytes(header / packet / payload)


def there(made: bytes | None = None, **changes: Any) -> Request:
    frames = [(frame() if made is None else made).hex()]
    return stream(0, 10_000, tx_port=0, rx_port=1, frames=frames, **changes)


def run(bed: TruthBed, request: Request, *, check: str = "checksums", **done: Any) -> Truth:
    return bed.run(request, paths=[path(0, 1, **done)], check=check)


def damage(byte: int) -> dict[str, Any]:
    """One bit of every seventh frame, so far from its end."""
    return {"do": "corrupt", "every": 7, "byte": byte, "flip": 0x10}


def checks(counts: dict[str, Any]) -> dict[str, int]:
    names = ("received", "corrupt", "checked", "header_checked", "unchecked")
    return {name: counts[name] for name in names}


# Right before the signature, in the payload, in the UDP header, in the IPv4 header.
FROM_THE_END = [
    SIGNATURE_BYTES,
    SIGNATURE_BYTES + 1,
    100,
    FRAME_BYTES - 42,
    FRAME_BYTES - 34 - 1,
    FRAME_BYTES - TTL_AT - 1,
    FRAME_BYTES - ETHERNET_BYTES - 1,
]


@pytest.mark.parametrize("byte", FROM_THE_END)
def test_a_damaged_byte_from_the_ip_header_on_is_corrupt(bed: TruthBed, byte: int) -> None:
    load, probe = there(), there(role="latency") | {"stream": 1}
    truth = bed.run(load, probe, paths=[path(0, 1, wrongs=[damage(byte)])], check="checksums")
    damaged = SENT // 7
    assert truth.report.applied() == [2 * damaged]
    for stream_number in (0, 1):
        counts = truth.counts(stream_number)
        whole = SENT - damaged
        assert checks(counts) == {
            "received": whole,
            "corrupt": damaged,
            "checked": whole,
            "header_checked": 0,
            "unchecked": 0,
        }
        assert counts["missing"] == damaged
        assert counts["latency"]["count"] + counts["latency_across_stalls"]["count"] == whole


def test_by_the_signature_alone_it_is_not_seen(bed: TruthBed) -> None:
    truth = run(bed, there(), check="signature", wrongs=[damage(100)])
    assert truth.report.applied() == [SENT // 7]
    assert checks(truth.counts(0)) == {
        "received": SENT,
        "corrupt": 0,
        "checked": 0,
        "header_checked": 0,
        "unchecked": 0,
    }


ALL_CHECKED = {
    "received": SENT,
    "corrupt": 0,
    "checked": SENT,
    "header_checked": 0,
    "unchecked": 0,
}


@pytest.mark.parametrize(
    "rewrite",
    [
        pytest.param({"at": 0, "write": "02aabbccdd0102aabbccdd02"}, id="addresses"),
        pytest.param({"at": TTL_AT, "write": "3f11", "fixes": [IPV4_CHECKSUM_AT]}, id="ttl"),
        pytest.param({"at": 12, "insert": "81000005"}, id="tagged"),
        pytest.param({"at": FRAME_BYTES, "insert": "ff" * 9}, id="padded"),
    ],
)
def test_a_dut_that_rewrites_what_it_may_damages_nothing(
    bed: TruthBed, rewrite: dict[str, Any]
) -> None:
    assert checks(run(bed, there(), rewrites=[rewrite]).counts(0)) == ALL_CHECKED


def test_a_dut_that_does_not_correct_the_checksum_damages_all(bed: TruthBed) -> None:
    counts = run(bed, there(), rewrites=[{"at": TTL_AT, "write": "3f11"}]).counts(0)
    assert (counts["received"], counts["corrupt"]) == (0, SENT)


def test_frames_that_come_back_as_something_else_are_said_to_be_unchecked(bed: TruthBed) -> None:
    counts = run(bed, there(), rewrites=[{"at": 12, "write": "88b5"}]).counts(0)
    assert checks(counts) == {**ALL_CHECKED, "checked": 0, "unchecked": SENT}


def test_udp_without_a_checksum_leaves_the_header_to_check(bed: TruthBed) -> None:
    bare = there(frame(chksum=0))
    assert checks(run(bed, bare).counts(0)) == {
        **ALL_CHECKED,
        "checked": 0,
        "header_checked": SENT,
    }
    header = run(bed, bare, wrongs=[damage(FRAME_BYTES - TTL_AT - 1)])
    assert header.counts(0)["corrupt"] == SENT // 7
    assert run(bed, bare, wrongs=[damage(100)]).counts(0)["corrupt"] == 0


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(there(frame(chksum=0x1234)), id="wrong-in-the-template"),
        pytest.param(
            there(fields=[{"offset": 60, "width": 4, "count": 1000, "kind": "random", "seed": 7}]),
            id="a-field-without-its-checksum",
        ),
    ],
)
def test_a_stream_sent_with_wrong_checksums_is_not_held_to_them(
    bed: TruthBed, request_: Request
) -> None:
    assert checks(run(bed, request_).counts(0)) == {**ALL_CHECKED, "checked": 0}


def test_fields_with_their_checksums_are_checked(bed: TruthBed) -> None:
    fields = [{"offset": 30, "width": 4, "count": 1 << 16, "fixes": [24, 40]}]
    truth = run(bed, there(fields=fields), wrongs=[damage(100)])
    assert truth.counts(0)["corrupt"] == SENT // 7
    assert truth.counts(0)["checked"] == SENT - SENT // 7
