"""What the report says of models under attack."""

from deltann_analyzer.attacks.assemble import attack_report

__all__ = ["attack_report"]
