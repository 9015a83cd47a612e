"""Makes the shared fixtures of this folder's tests known."""

from stacks import own_host, redis_url, start_worker, store

__all__ = ["own_host", "redis_url", "start_worker", "store"]
