"""Kind ``analyze``: everything a sweep computed, compared and written as a report."""

from __future__ import annotations

from deltann.base import Data


class AnalyzeParams(Data):
    """Analyse the sweep that the job is of: the settings are in the plan's context.

    Artifacts out: ``report``, a folder with report.json, report.html, the Parquet files and CSV tables.
    Data out: :class:`AnalyzeData`.
    """

    schema_name: str = "deltann.report/1"
    sweep: str = ""
    """Id of the sweep: gates and comparisons are of its study, so that a result is of one sweep alone."""


class AnalyzeData(Data):
    """What a caller has to know without opening the report."""

    gates_ok: bool
    summary: list[str]
