"""The fields that say how a packet is to be read: with another value the packet is broken."""

from __future__ import annotations

from plimsoll.errors import InputError

_MEANINGS = {
    "a length": (
        "len plen length payload_len uplen hwlen optionlen ihl dataofs ExtHdrLen optlen olen "
        "SRE_len lladdrlen auxdata_len"
    ),
    "a checksum": "chksum cksum",
    "a version": "version",
    "the kind of what follows": (
        "nh proto next_ex NextExtHdr NextProtocol hwtype ptype gtp_type Ether.type Dot1Q.type "
        "Dot1AD.type Dot1AH.type MPLS.s"
    ),
}
_MEANING_OF = {name: meaning for meaning, names in _MEANINGS.items() for name in names.split()}


def check_not_structural(layer: str, field: str) -> None:
    """Raise InputError for a field that cannot vary without breaking the packet."""
    meaning = _MEANING_OF.get(field) or _MEANING_OF.get(f"{layer}.{field}")
    if meaning:
        raise InputError(
            f"{layer}.{field} is {meaning}: with another value the packet is broken",
            remedy="vary an address, a port, an id, a label, a priority or a TTL",
        )
