"""The whole model files that the fuzz tests change."""

from tests.unit.modelfile.conftest import archive, members, onnx_file, saved_model, tflite_file, whole

__all__ = ["archive", "members", "onnx_file", "saved_model", "tflite_file", "whole"]
