"""What a sweep's mutants tell: of its inputs, and of its devices."""

from deltann_analyzer.mutants.assemble import mutation_report

__all__ = ["mutation_report"]
