"""Planning is pure: a study and the descriptions of its models and data in, jobs out, no I/O."""

from deltann.plan.resolve import plan_resolve, sweep_id
from deltann.plan.sweep import plan_sweep

__all__ = ["plan_resolve", "plan_sweep", "sweep_id"]
