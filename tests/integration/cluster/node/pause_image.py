"""The image of pods' first containers, of one program that waits: no registry gives one here."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path

from tests.integration.cluster.node.settings import PAUSE_IMAGE

_SOURCE = "#include <unistd.h>\nint main(void) { for (;;) pause(); }\n"


def write_pause_image(folder: Path) -> Path:
    """Build it in `folder`; its archive, as `docker save` writes one."""
    program = folder / "pause"
    command = ["gcc", "-static", "-O", "-x", "c", "-o", str(program), "-"]
    subprocess.run(command, input=_SOURCE, text=True, check=True)
    layer = _tar({"pause": program.read_bytes()})
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": ["/pause"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }
    listed = [{"Config": "config.json", "RepoTags": [PAUSE_IMAGE], "Layers": ["layer.tar"]}]
    archive = folder / "pause.tar"
    parts = {"manifest.json": listed, "config.json": config}
    texts = {name: json.dumps(part).encode() for name, part in parts.items()}
    archive.write_bytes(_tar({**texts, "layer.tar": layer}))
    return archive


def _tar(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(data), 0o755
            archive.addfile(member, io.BytesIO(data))
    return content.getvalue()
