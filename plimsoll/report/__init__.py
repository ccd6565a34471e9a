"""Charts, tables and pages from records."""

from plimsoll.report.chart_files import export_charts
from plimsoll.report.registry import as_junit, as_markdown, write_report
from plimsoll.report.table_files import export_tables

__all__ = ["as_junit", "as_markdown", "export_charts", "export_tables", "write_report"]
