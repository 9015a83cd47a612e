"""Models in and out of PyTorch, Keras, TensorFlow, TFLite and ONNX."""
