"""A cluster in memory, as much as a driver asks of it: what it makes is there, or goes in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.errors import MachineError
from plimsoll.host.kubernetes.api_client import ApiAnswer


class ClusterInMemory:
    """Namespaces last for `linger` lists after they were deleted; `answers` come before its own."""

    def __init__(self, linger: int = 0) -> None:
        self.server = "https://memory"
        self.made: list[tuple[str, str]] = []
        self.namespaces: dict[str, int | None] = {}
        self.answers: list[ApiAnswer] = []
        self.requests = 0
        self._linger = linger

    def create(self, path: str, document: Mapping[str, Any]) -> ApiAnswer:
        """Made, unless another answer was prepared."""
        self.requests += 1
        if self.answers:
            return self.answers.pop(0)
        name = str(document["metadata"]["name"])
        self.made.append((str(document["kind"]), name))
        if document["kind"] == "Namespace":
            self.namespaces[name] = None
        return ApiAnswer(201, {})

    def delete(self, path: str, *, grace_s: int | None = None) -> ApiAnswer:
        """To be gone."""
        self.requests += 1
        name = path.rpartition("/")[2]
        if name not in self.namespaces:
            return ApiAnswer(404, {"message": "not found"})
        self.namespaces[name] = self._linger
        return ApiAnswer(200, {})

    def items(self, path: str, selector: str) -> tuple[list[Mapping[str, Any]], str]:
        """The namespaces, those that are going too."""
        for name, left in list(self.namespaces.items()):
            if left is not None:
                self.namespaces[name] = left - 1
                if left <= 0:
                    del self.namespaces[name]
        return [{"metadata": {"name": name}} for name in self.namespaces], "1"

    def refused(self, answer: ApiAnswer, what: str) -> MachineError:
        """As the client has it."""
        return MachineError(f"refuses {what}: {answer.reason}", where=self.server)
