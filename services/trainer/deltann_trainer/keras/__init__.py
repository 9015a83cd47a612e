"""Networks in Keras, on TensorFlow."""
