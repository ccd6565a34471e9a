"""Churn runs held against each other: their figures by network and level, and releases."""

from collections.abc import Sequence
from pathlib import Path

from plimsoll.analysis.comparison.side import figures_of
from plimsoll.churn.results.churn_result import ChurnCell
from plimsoll.record.index.run_entry import RunEntry, entry_of
from plimsoll.record.index.summarise import note_summary
from plimsoll.record.methods.method import RunFigure
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.churn.churn_record import (
    CELLS,
    with_fsync,
    with_probe,
    write_churn_run,
)
from tests.worded.says import Says


def entry(run: RunDirectory) -> RunEntry:
    note_summary(run)
    return entry_of(run.path.name, run.path)


def with_all_pods(cell: ChurnCell) -> ChurnCell:
    """As a run has it: a row of all kinds of pods together, too."""
    ready = cell.control_plane.readiness
    together = tuple(each.model_copy(update={"kind": "all", "p99_ms": 3000.0}) for each in ready)
    control_plane = cell.control_plane.model_copy(update={"readiness": (*together, *ready)})
    return cell.model_copy(update={"control_plane": control_plane})


def figures(folder: Path, cells: Sequence[ChurnCell]) -> dict[str, RunFigure]:
    return {each.name: each for each in figures_of(entry(write_churn_run(folder, cells=cells)))}


def test_streams_are_told_apart_by_network_and_level(tmp_path: Path) -> None:
    found = figures(tmp_path, CELLS)
    # The answer is the first, for it alone is a gate: 81 % of 60 Mbit/s at worst.
    assert next(iter(found.values())) == RunFigure("throughput kept", 81.0, "%", "higher")
    mean = found["throughput over ovn at 100 percent"]
    assert (round(mean.value, 6), mean.unit, mean.better) == (48.6, "Mbit/s", "higher")
    assert found["throughput over macvlan at 0 percent"].value == 60.0
    assert found["deepest dip over ovn at 100 percent"] == RunFigure(
        "deepest dip over ovn at 100 percent", 0.4, "ratio", "lower"
    )
    assert found["longest dip over ovn at 100 percent"].value == 3.0
    assert found["deepest dip over ovn at 0 percent"].value == 0.0


def test_the_control_plane_is_told_apart_by_level_alone(tmp_path: Path) -> None:
    slower = with_fsync(with_all_pods(CELLS[0]), 8.25)
    found = figures(tmp_path, [slower, *map(with_all_pods, CELLS[1:])])
    # The median of two networks, 8.25 and 4.25 ms.
    assert found["etcd wal-fsync p99 at 100 percent"].value == 6.25e6
    assert found["etcd wal-fsync p99 at 0 percent"].value == 4.25e6
    assert found["mutating requests p99 at 100 percent"].value == 37.5e6
    assert found["pod readiness p50 at 100 percent"].value == 900e6
    assert found["pod readiness p99 at 100 percent"].value == 3000e6
    assert "pod readiness p99 at 0 percent" not in found
    assert {each.better for name, each in found.items() if " p99 " in name} == {"lower"}


def test_pods_that_were_not_ready_in_time_leave_no_flattering_readiness(
    tmp_path: Path, says: Says
) -> None:
    cut = CELLS[0].phases[1].model_copy(update={"complete": False})
    late = CELLS[0].model_copy(update={"phases": (CELLS[0].phases[0], cut)})
    found = figures(tmp_path, [with_all_pods(late), CELLS[1]])
    assert "pod readiness p99 at 100 percent" not in found
    assert found == says("100")


def test_udp_probes_are_figures_where_there_were_any(tmp_path: Path) -> None:
    found = figures(tmp_path, [with_probe(CELLS[0]), *CELLS[1:]])
    assert found["UDP p99 over ovn at 100 percent"].value == 1_234_500
    assert found["UDP loss over ovn at 100 percent"] == RunFigure(
        "UDP loss over ovn at 100 percent", 0.002, "ratio", "lower"
    )
    assert "UDP p99 over ovn at 0 percent" not in found
