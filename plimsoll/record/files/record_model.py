"""What all parts of a trial's record have in common."""

from __future__ import annotations

from plimsoll.search.evidence.trial_evidence import EvidenceModel


class RecordModel(EvidenceModel):
    """A part of a record that is no evidence of the search's; written and read as that is."""
