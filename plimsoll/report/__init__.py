"""Charts and pages from records."""

from plimsoll.report.chart_files import export_charts
from plimsoll.report.registry import write_report

__all__ = ["export_charts", "write_report"]
