#!/usr/bin/env python3
"""Copies docs/ into a folder and adds what is made of the code: `build-docs.py FOLDER`.

These are the pages of all checks, tuning.md and tuning-cluster.md, and the record's JSON Schemas.
Needs plimsoll and its libraries on the module path.
"""

import shutil
import sys
from pathlib import Path

from plimsoll.record.schemas import write_schemas
from plimsoll.tune.audit.document import tuning_document
from plimsoll.tune.cluster.document import cluster_document
from plimsoll.tune.intent.load import SCHEMA_FILE, intent_schema

DOCS = Path(__file__).resolve().parents[1] / "docs"


def build(folder: Path) -> None:
    """Whatever is in the folder from before goes."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder)
    write_schemas(folder / "schemas")
    (folder / "schemas" / SCHEMA_FILE).write_text(intent_schema(), encoding="utf-8")
    (folder / "tuning.md").write_text(tuning_document(), encoding="utf-8")
    (folder / "tuning-cluster.md").write_text(cluster_document(), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: build-docs.py FOLDER")
    build(Path(sys.argv[1]))
