"""What is known of a model's layers as they ran, and which layers of two models are the same. Pure, NumPy alone."""
