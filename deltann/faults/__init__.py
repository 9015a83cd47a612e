"""What can be wrong with a converted model, and how it is named. Pure, NumPy alone."""
