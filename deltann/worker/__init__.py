"""The worker: takes a job from its queue, computes it in a child process, stores and settles it."""
