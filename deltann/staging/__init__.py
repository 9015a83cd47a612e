"""Staging: the files that a study names go into the store, so that it means the same on every machine."""

from deltann.staging.data import stage_data, stage_inputs
from deltann.staging.files import Uploader
from deltann.staging.model import stage_model, stage_native
from deltann.staging.study import expand, stage

__all__ = ["Uploader", "expand", "stage", "stage_data", "stage_inputs", "stage_model", "stage_native"]
