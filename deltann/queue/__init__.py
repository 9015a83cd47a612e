"""The queue: Celery over Redis, and the few Redis keys that workers and dispatcher share."""

from deltann.queue.app import TASK, make_app
from deltann.queue.connection import connect
from deltann.queue.leases import Lease
from deltann.queue.publish import Publisher

__all__ = ["TASK", "Lease", "Publisher", "connect", "make_app"]
