"""Removes what a run made in a cluster, when the run itself no longer can.

`python -m plimsoll.churn.api.removal SELECTOR CONTEXT KUBECONFIG COLLECTION` deletes
what the label selects of a collection, such as /api/v1/namespaces; CONTEXT and KUBECONFIG may be
empty. The ledger of a run has it carried out.
"""

from __future__ import annotations

import sys
import time

from plimsoll.errors import MachineError
from plimsoll.host.entry.entry_point import enter
from plimsoll.host.kubernetes.api_client import ApiClient

NAMESPACES = "/api/v1/namespaces"
_LONGEST_S = 600.0
_POLL_S = 1.0


def remove(
    client: ApiClient, selector: str, collection: str, longest_s: float = _LONGEST_S
) -> list[str]:
    """Delete the objects and wait until they are gone; the names that are left in the end.

    Raises MachineError where the server does not answer.
    """
    deadline = time.monotonic() + longest_s
    requested: set[str] = set()
    while True:
        items, _ = client.items(collection, selector)
        names = [str(each["metadata"]["name"]) for each in items]
        for name in names:
            if name not in requested:
                client.delete(f"{collection}/{name}")
                requested.add(name)
        if not names or time.monotonic() > deadline:
            return names
        time.sleep(_POLL_S)


def main(arguments: list[str]) -> int:
    """Remove what the arguments select; not 0 where something is left."""
    selector, context, kubeconfig, collection = arguments
    left = remove(ApiClient.of(context or None, kubeconfig or None), selector, collection)
    return MachineError.exit_code if left else 0


if __name__ == "__main__":
    enter(lambda: main(sys.argv[1:]))
