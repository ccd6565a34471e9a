"""The page of a run that was read already, so that tests can change what was read."""

from plimsoll.methods.load_line.page import page_of
from plimsoll.report.data.run_data import RunData
from plimsoll.report.figures.figure import unchecked
from plimsoll.report.parts.page import render_page
from plimsoll.report.parts.run_head import head_of


def rendered(data: RunData) -> str:
    head = head_of(data.run_id, data.experiment, data.journal, data.environment)
    # As `make_page` does.
    with unchecked():
        page = page_of(data)
    return render_page(head, page)
