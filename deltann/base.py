"""The base of the plain data that parts of DeltaNN hand to each other."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Data(BaseModel):
    """Immutable, strict about unknown fields, and written as JSON without NaN or Inf."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null", protected_namespaces=())
