"""From an input's stored bytes to the tensor that a model takes: a named, composable list of steps."""
