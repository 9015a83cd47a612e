"""What the report says of models that the study trained. Pure."""

from deltann_analyzer.training.assemble import training_report

__all__ = ["training_report"]
