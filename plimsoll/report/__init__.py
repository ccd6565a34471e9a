"""Charts and pages from records."""

from plimsoll.report.export import export_charts
from plimsoll.report.pages import write_report

__all__ = ["export_charts", "write_report"]
