"""What the operators of :mod:`deltann.mutation` do to a model."""
