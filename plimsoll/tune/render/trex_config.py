"""trex_cfg.yaml: TRex's ports and threads, as in the first article."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.trex import Trex
from plimsoll.tune.render.files.rendered_file import RenderedFile, yaml_text

PATH = "generator/trex_cfg.yaml"


def render_trex_config(intent: Intent) -> Iterator[RenderedFile]:
    """Only where the generator is TRex."""
    trex = intent.generator.trex
    if trex is None:
        return
    command = shlex.join(["./_t-rex-64-o", *trex.arguments, "--cfg", PATH.rpartition("/")[2]])
    yield RenderedFile(
        PATH,
        yaml_text([trex_config(trex)]),
        does=f"The generator's own configuration, for its host: `{command}`",
        undo="Remove the file.",
    )


def trex_config(trex: Trex) -> dict[str, Any]:
    """The one entry of the file, version 2."""
    pairs = [{"socket": pair.socket, "threads": list(pair.threads)} for pair in trex.dual_if]
    requested = {
        "c": trex.threads_per_pair,
        "interfaces": [port.pci for port in trex.ports],
        "limit_memory": trex.limit_memory_mb,
        "platform": {
            "dual_if": pairs,
            "latency_thread_id": trex.latency_thread,
            "master_thread_id": trex.master_thread,
        },
        "port_bandwidth_gb": trex.port_bandwidth_gb,
        "port_info": [{"default_gw": port.default_gw, "ip": port.ip} for port in trex.ports],
        "version": 2,
    }
    return {field: value for field, value in requested.items() if value is not None}
