"""What is measured of a pair: labels, whole outputs, times. NumPy arrays in and out, no I/O."""
