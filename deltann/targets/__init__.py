"""Compilation targets: the table of named ones, what else a person may give, and what a module needs of its device."""

from deltann.targets.given import Target, read_target
from deltann.targets.needs import Needs
from deltann.targets.table import HOST, TARGETS, NamedTarget

__all__ = ["HOST", "TARGETS", "NamedTarget", "Needs", "Target", "read_target"]
