"""One document for OpenSearch, and the two lines that load it."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CdmDocument:
    """A document in JSON, the index that it belongs to, and its id there.

    `kind` is CDM's: run, tag, iteration, param, sample, period, metric_desc, metric_data.
    """

    kind: str
    index: str
    id: str
    json: str

    @property
    def lines(self) -> str:
        """What the bulk API takes: an action and the document, each with its line's end.

        Crucible's add-run finds the index in the action by the space before its name.
        """
        action = f'{{"index": {{"_index": "{self.index}", "_id": {json.dumps(self.id)}}}}}'
        return f"{action}\n{self.json}\n"
