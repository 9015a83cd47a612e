"""A study as a person writes it, in YAML, read into typed and validated models."""
