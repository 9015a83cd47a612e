"""The Celery application: how messages travel. Every option that is not Celery's default says why."""

from __future__ import annotations

from celery import Celery

from deltann.queue.connection import celery_url
from deltann.queue.transport import NAME

TASK = "deltann.job"
"""Name of the one Celery task."""

PRIORITIES = (0, 3, 6, 9)
"""Lists that each queue is made of; the lowest number is served first."""

SEPARATOR = "\x06\x16"


def make_app(url: str) -> Celery:
    """A Celery application over that Redis, for publishing and for workers."""
    app = Celery("deltann", broker=celery_url(url), set_as_current=False)
    app.conf.update(
        broker_transport=NAME,
        # JSON only: nothing that is pickled is ever read.
        task_serializer="json",
        accept_content=["json"],
        # Results are objects in the store; Celery's own cost two thirds of the throughput.
        task_ignore_result=True,
        # A message is acknowledged when its job is settled, and one worker holds one message.
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        worker_concurrency=1,
        # In a thread of its own a job leaves the consumer responsive to Redis and to signals.
        worker_pool="threads",
        # True loses the running message when Redis is restarted.
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_retry=True,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        task_create_missing_queues=True,
        broker_transport_options={
            "queue_order_strategy": "priority",
            "priority_steps": list(PRIORITIES),
            "sep": SEPARATOR,
            "socket_connect_timeout": 3,
            "socket_keepalive": True,
            "health_check_interval": 10,
        },
    )
    return app
