"""How much of a stream's received frames was looked at for damage, in words."""

from __future__ import annotations

from plimsoll.generator.interface import FrameCheck, StreamCounts


def examined(counts: StreamCounts, check: FrameCheck, signature_bytes: int) -> str:
    """What "corrupt" covers, so that it is not taken for more."""
    said = f"checked: the {signature_bytes}-byte signature of {counts.received + counts.corrupt:,}"
    if check == "signature":
        return f"{said}, no other byte"
    parts = [said]
    if counts.checked:
        parts.append(f"all from the IP header on, by checksums, of {counts.checked:,}")
    if counts.header_checked:
        parts.append(f"the IPv4 header of {counts.header_checked:,}")
    if counts.checked + counts.header_checked == 0:
        parts.append("no other byte, as there was no checksum that could be")
    elif counts.unchecked:
        parts.append(f"{counts.unchecked:,} came back without checksums that they were sent with")
    return "; ".join(parts)
