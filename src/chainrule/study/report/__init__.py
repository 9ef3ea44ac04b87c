"""The report of a study: one page that needs no network, its data beside it, and the page as PDF."""

from chainrule.study.report.write import write_report

__all__ = ["write_report"]
