"""The first file of a bundle: which run it is, and each of its files with size and SHA-256."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from plimsoll.errors import InputError
from plimsoll.record.index.run_files import is_run_file

MANIFEST = "plimsoll-bundle.json"
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")
MOST_FILES = 100_000


class BundledFile(BaseModel):
    """One file of the run, by its path in the run directory."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class BundleManifest(BaseModel):
    """`redacted` says that names and addresses are stand-ins; `plimsoll` is who wrote it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["plimsoll-bundle"] = "plimsoll-bundle"
    version: Literal[1] = 1
    plimsoll: Annotated[str, Field(max_length=64)]
    run_id: Annotated[str, Field(pattern=f"^{RUN_ID.pattern}$")]
    redacted: bool
    files: Annotated[tuple[BundledFile, ...], Field(max_length=MOST_FILES)]


def parse_manifest(content: bytes, where: str) -> BundleManifest:
    """Read it. Raises InputError for what no `plimsoll export` has bundled."""
    try:
        manifest = BundleManifest.model_validate_json(content)
    except ValidationError as error:
        reason = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, reason["loc"])) or "the document"
        raise _refused(where, f"{place}: {reason['msg']}") from None
    paths = [each.path for each in manifest.files]
    if len(set(paths)) < len(paths):
        raise _refused(where, "a file is in it twice")
    foreign = next((path for path in paths if not is_run_file(path)), None)
    if foreign is not None:
        raise _refused(where, f"{foreign[:200]!r} is not a file of a run")
    missing = {"experiment.yaml", "journal.jsonl"}.difference(paths)
    if missing:
        raise _refused(where, f"it has no {' and no '.join(sorted(missing))}")
    return manifest


def _refused(where: str, reason: str) -> InputError:
    return InputError(
        f"its {MANIFEST} cannot be used: {reason}",
        where=where,
        remedy="bundle the run again with plimsoll export --format bundle, or use the version "
        "that wrote it",
    )
