"""How a study becomes the two graphs of its sweep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from deltann.job import JobResult, Plan
from deltann.spec.models import Study


class Planner(Protocol):
    """Pure functions from a staged study to its sweep's id and plans."""

    def sweep_id(self, study: Study) -> str:
        """Id of the study's sweep: the same for the same study."""

    def resolve(self, study: Study) -> Plan:
        """The jobs that materialise and describe what the study names."""

    def sweep(self, study: Study, results: Mapping[int, JobResult]) -> Plan:
        """The jobs of the sweep, from the results of the resolve jobs by index."""


class StudyPlanner:
    """The planner of :mod:`deltann.plan`."""

    def sweep_id(self, study: Study) -> str:
        """Id of the study's sweep."""
        from deltann.plan import sweep_id

        return sweep_id(study)

    def resolve(self, study: Study) -> Plan:
        """The resolve jobs."""
        from deltann.plan import plan_resolve

        return plan_resolve(study)

    def sweep(self, study: Study, results: Mapping[int, JobResult]) -> Plan:
        """The jobs of the sweep."""
        from deltann.plan import plan_sweep

        return plan_sweep(study, results)
