"""What every command that leaves a run directory does around its run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from plimsoll.host.ledger.ledger import sweep
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report import write_report
from plimsoll.terminal.output import labelled, stderr
from plimsoll.web.endpoint import ListenEndpoint

if TYPE_CHECKING:
    from plimsoll.web.open_metrics import LiveMetrics


def serving(metrics_port: ListenEndpoint | None) -> AbstractContextManager[LiveMetrics | None]:
    """Listen there, if requested, before anything is started or written.

    Which run is served is said once there is one. Raises MachineError.
    """
    if metrics_port is None:
        return nullcontext()
    from plimsoll.web.open_metrics import open_metrics  # noqa: PLC0415 - few runs need a server

    return open_metrics(metrics_port)


@contextmanager
def running(
    command: str,
    directory: RunDirectory,
    kept: str,
    worth_a_report: Callable[[JournalContents], object] | None,
    live: LiveMetrics | None = None,
) -> Iterator[None]:
    """Clean up after earlier runs, tell where this one is, and keep it if it is cut short.

    Its live values are shown by `live` while it runs. When it is cut short, `kept` says
    what stays, and how `plimsoll <command>` goes on. The report is written where the journal
    holds what is `worth_a_report`; None writes none.
    """
    for line in sweep():
        stderr.print(labelled("cleaned up after an earlier run:", line), soft_wrap=True)
    stderr.print(labelled("run:", directory.path), soft_wrap=True)
    if live is not None:
        live.show(directory)
    try:
        yield
    except BaseException:
        # The error on its way may be that the disk is full or the record damaged, or a fault.
        with suppress(Exception):
            history = None if worth_a_report is None else read_journal(directory.journal)
            if history is None or (worth_a_report and worth_a_report(history)):
                if history is not None:
                    write_report(directory)
                _say_how_to_go_on(command, directory, kept)
            elif history.events:
                # Cut short in its calibration, say: there is nothing to report yet.
                _say_how_to_go_on(command, directory, "no trial was finished yet")
        raise


def _say_how_to_go_on(command: str, directory: RunDirectory, kept: str) -> None:
    stderr.print(
        f"{kept}; go on with: plimsoll {command} --resume {directory.path}",
        soft_wrap=True,
        highlight=False,
    )
