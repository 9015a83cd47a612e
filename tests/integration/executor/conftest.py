"""Makes the shared fixtures of this folder's tests known."""

from stacks import redis_url

__all__ = ["redis_url"]
