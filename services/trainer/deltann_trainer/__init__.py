"""Training: a service of its own, since a training takes hours for which no conversion should wait."""
