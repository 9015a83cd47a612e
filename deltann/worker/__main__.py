"""``python -m deltann.worker``."""

from deltann.worker.command import main

main()
