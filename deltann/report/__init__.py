"""The report of a sweep: its contract as types, its JSON Schema (:mod:`deltann.report.schema`), and how it is read."""

from deltann.report.models import SCHEMA_NAME, Report
from deltann.report.read import read_report

__all__ = ["SCHEMA_NAME", "Report", "read_report"]
