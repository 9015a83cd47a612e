"""``python -m deltann.worker``."""

from deltann.worker.main import main

main()
