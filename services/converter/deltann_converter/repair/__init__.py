"""Where a converted ONNX model went wrong, what would put it right, and the repaired model. Frameworks load late."""
