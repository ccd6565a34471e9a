"""The samples of a matrix as an indexed job takes them: by number, with their experiments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from plimsoll.errors import InputError
from plimsoll.methods.matrix.combinations import Sample
from plimsoll.methods.matrix.plan import read_iteration, read_plan, sample_folder
from plimsoll.record.run.run_directory import RunDirectory

CELLS_FILE = "cells.json"
# Of a config map in all (Kubernetes' API, ConfigMap), with room for its metadata.
_MOST_BYTES = 1000 * 1024


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One sample: the folder of its run in the matrix's, and its experiment's file."""

    sample: Sample
    folder: str
    experiment: str


def cells_of(run: RunDirectory) -> tuple[MatrixCell, ...]:
    """Those of a matrix run, in the order of its plan. Raises RecordError."""
    return tuple(
        MatrixCell(
            sample,
            sample_folder(run, sample).relative_to(run.path).as_posix(),
            f"iteration-{sample.iteration}.yaml",
        )
        for sample in read_plan(run).in_order()
    )


def cell_files(run: RunDirectory, cells: tuple[MatrixCell, ...]) -> Mapping[str, str]:
    """The data of the config map: what each index is, and the experiments.

    Raises InputError where that is more than a config map holds.
    """
    experiments = {
        each.experiment: yaml.safe_dump(
            read_iteration(run, each.sample.iteration).normalised(), sort_keys=False
        )
        for each in cells
    }
    listed = [{"folder": each.folder, "experiment": each.experiment} for each in cells]
    files = {CELLS_FILE: json.dumps(listed), **experiments}
    size = sum(len(name.encode()) + len(text.encode()) for name, text in files.items())
    if size > _MOST_BYTES:
        raise InputError(
            f"{len(experiments)} experiments are {size >> 10} KiB, and a config map holds "
            f"{_MOST_BYTES >> 10}",
            where="matrix",
            remedy="split the matrix, or shorten the profile (pcap files are not taken along)",
        )
    return files
