"""TVM modules per target and optimisation level."""
