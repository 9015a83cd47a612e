"""Data sets as they are opened: files that a person gives, and sets by name."""

from deltann_converter.datasets.base import DataSet
from deltann_converter.datasets.files import open_files
from deltann_converter.datasets.named import open_named

__all__ = ["DataSet", "open_files", "open_named"]
