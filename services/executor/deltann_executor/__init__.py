"""Device-pinned inference."""
