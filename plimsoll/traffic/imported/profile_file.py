"""Profiles in files: Plimsoll's own form or bench-trafficgen's, distinguished by content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plimsoll.errors import InputError
from plimsoll.text.document import Document, read_document
from plimsoll.traffic.imported.conversion import USUAL_PROBES, LatencyProbes
from plimsoll.traffic.imported.trafficgen import (
    TrafficgenProfile,
    TrafficgenStream,
    import_trafficgen,
)
from plimsoll.traffic.streams.profile import Profile
from plimsoll.traffic.streams.stream import Stream


def load_profile(path: Path) -> Profile:
    """Read a profile. Raises InputError naming file, line and field for any mistake."""
    document = read_document(path)
    if _is_trafficgen(document):
        return _imported(document, path)
    place_captures(document.data, path.parent)
    return document.validate(Profile)


def load_trafficgen(
    path: Path,
    name: str | None = None,
    probes: LatencyProbes = USUAL_PROBES,
    seed: float = 0.0,
) -> Profile:
    """Read bench-trafficgen's profile, or the one of this name in a file of several.

    `seed` is its --random-seed, by which MAC addresses are drawn. Raises InputError as
    `load_profile` does.
    """
    return _imported(read_document(path), path, name, probes, seed)


def _imported(
    document: Document,
    path: Path,
    name: str | None = None,
    probes: LatencyProbes = USUAL_PROBES,
    seed: float = 0.0,
) -> Profile:
    given = document.validate(TrafficgenProfile)
    try:
        return import_trafficgen(given, name, probes, seed)
    except InputError as error:
        raise InputError(error.message, where=str(path), remedy=error.remedy) from None


def place_captures(profile: object, folder: Path) -> None:
    """Make the paths of a profile's captures, which are relative to `folder`, absolute.

    `profile` is plain data not validated yet, and is changed in place.
    """
    for stream in _streams(profile):
        pcap = stream.get("pcap")
        if isinstance(pcap, str) and pcap:
            stream["pcap"] = str((folder / pcap).absolute())
        elif isinstance(pcap, dict) and isinstance(pcap.get("file"), str) and pcap["file"]:
            pcap["file"] = str((folder / pcap["file"]).absolute())


def _is_trafficgen(document: Document) -> bool:
    """Whether more of the fields are ones that only bench-trafficgen has."""
    fields = _field_names(document.data)
    if "profiles" in fields:
        return True
    own, theirs = set(Stream.model_fields), set(TrafficgenStream.model_fields)
    only_theirs = sum(field in theirs - own for field in fields)
    only_own = sum(field in own - theirs for field in fields)
    return only_theirs > only_own


def _field_names(data: object) -> list[object]:
    """Those of the document and, one by one, of its streams."""
    own = list(data) if isinstance(data, dict) else []
    return [*own, *(field for stream in _streams(data) for field in stream)]


def _streams(data: object) -> list[dict[Any, Any]]:
    listed = data.get("streams") if isinstance(data, dict) else None
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
