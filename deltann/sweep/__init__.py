"""Sweeps: submitting, watching, cancelling and fetching them, over a store and a queue."""

from deltann.dispatcher.counts import KindCounts
from deltann.sweep.backend import LocalBackend
from deltann.sweep.model import Failure, SweepBackend, SweepState, SweepStatus

__all__ = ["Failure", "KindCounts", "LocalBackend", "SweepBackend", "SweepState", "SweepStatus"]
